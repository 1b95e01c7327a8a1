// Takes a picture of each state, to be looked at:  node tests/page/shots.mjs DIR [NAME...]

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';
import { all } from './worlds.mjs';

const [, , dir, ...names] = process.argv;
const render = `${process.env.BUILD ?? 'build'}/tests/page/page_render`;
const policy = execFileSync(render, ['--policy'], { encoding: 'utf8' }).trim();
const pages = Object.fromEntries(Object.entries(all).map(([name, status]) =>
	[name, execFileSync(render, ['--pod', 'orders-jobmanager-7d9-kq'], { input: JSON.stringify(status) })]));
const server = createServer((request, answer) => {
	const page = pages[decodeURIComponent(request.url.slice(1))];
	answer.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy });
	answer.end(page ?? '');
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const browser = new Browser(process.env.CHROMIUM ?? 'chromium-headless-shell');
mkdirSync(dir, { recursive: true });
for (const name of names.length ? names : Object.keys(all))
	for (const [kind, options] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 390, height: 800 } })) {
		const page = await browser.page(options);
		await page.open(`http://127.0.0.1:${server.address().port}/${name}`);
		writeFileSync(`${dir}/${name}-${kind}.png`, await page.screenshot());
		if (page.problems.length) console.log(name, kind, page.problems);
		await page.close();
	}
browser.close();
server.close();
process.exit(0);
