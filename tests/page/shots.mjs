// Takes a picture of each state, to be looked at:  node tests/page/shots.mjs DIR [NAME...]

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';
import { all } from './worlds.mjs';

const [, , dir, ...names] = process.argv;
const render = `${process.env.BUILD ?? 'build'}/tests/page/page_render`;
const policy = execFileSync(render, ['--policy'], { encoding: 'utf8' }).trim();
const run = (mode, status) => execFileSync(render, [mode, 'orders-jobmanager-7d9-kq'], { input: JSON.stringify(status) });
const pages = Object.fromEntries(Object.entries(all).map(([name, status]) => [name, { html: run('--pod', status), status: status ? run('--status', status) : null }]));
const server = createServer((request, answer) => {
	const [, name, file] = /^\/([^/]+)\/(status)?$/.exec(request.url) ?? [];
	const page = pages[decodeURIComponent(name ?? '')];
	const code = !page ? 404 : file && !page.status ? 503 : 200;
	answer.writeHead(code, { 'Content-Type': file ? 'application/json' : 'text/html; charset=utf-8', 'Content-Security-Policy': policy });
	answer.end(page ? (file ? page.status ?? '{"error": "drey is still starting"}' : page.html) : '');
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const browser = new Browser(process.env.CHROMIUM ?? 'chromium-headless-shell');
mkdirSync(dir, { recursive: true });
for (const name of names.length ? names : Object.keys(all))
	for (const [kind, options] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 390, height: 800 } })) {
		const page = await browser.page(options);
		await page.open(`http://127.0.0.1:${server.address().port}/${name}/`);
		await page.until("document.getElementById('refresh').textContent.startsWith('Refreshed')");
		writeFileSync(`${dir}/${name}-${kind}.png`, await page.screenshot());
		if (page.problems.length) console.log(name, kind, page.problems);
		await page.close();
	}
browser.close();
server.close();
process.exit(0);
