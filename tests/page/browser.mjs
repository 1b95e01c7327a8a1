// A headless Chromium, driven by its DevTools protocol over a pipe: no package is needed for it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Browser {
	constructor(program) {
		this.home = mkdtempSync(join(tmpdir(), 'drey-page-'));
		this.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe',
			'--disable-dev-shm-usage', `--user-data-dir=${this.home}`, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', 'about:blank'],
		{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
		this.next = 1;
		this.waiting = new Map();
		this.listeners = new Set();
		let text = '';
		this.process.stdio[4].on('data', (chunk) => {
			text += chunk;
			const parts = text.split('\0');
			text = parts.pop();
			for (const part of parts) this.take(JSON.parse(part));
		});
	}

	take(message) {
		const waiting = this.waiting.get(message.id);
		if (!waiting) {
			for (const listener of this.listeners) listener(message);
			return;
		}
		this.waiting.delete(message.id);
		if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
		else waiting.resolve(message.result);
	}

	send(method, params = {}, sessionId = undefined) {
		const id = this.next++;
		this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
	}

	async page({ width = 1120, height = 900, dark = false, script = true } = {}) {
		const { browserContextId } = await this.send('Target.createBrowserContext');
		const { targetId } = await this.send('Target.createTarget', { url: 'about:blank', browserContextId, width, height });
		const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
		const page = new Page(this, sessionId, targetId, browserContextId);
		await Promise.all(['Page', 'Runtime', 'Log', 'Network'].map((domain) => page.send(`${domain}.enable`)));
		await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
		await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
		if (!script) await page.send('Emulation.setScriptExecutionDisabled', { value: true });
		return page;
	}

	close() {
		this.process.kill('SIGKILL');
		rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
	}
}

class Page {
	constructor(browser, sessionId, targetId, browserContextId) {
		Object.assign(this, { browser, sessionId, targetId, browserContextId, problems: [], requests: [] });
		browser.listeners.add((message) => {
			if (message.sessionId !== sessionId) return;
			const { method, params } = message;
			if (method === 'Runtime.exceptionThrown') this.problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
			if (method === 'Runtime.consoleAPICalled' && params.type === 'error') this.problems.push(params.args.map((a) => a.value ?? a.description).join(' '));
			if (method === 'Log.entryAdded' && params.entry.level === 'error') this.problems.push(`${params.entry.text} ${params.entry.url ?? ''}`);
			if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
			if (method === 'Page.loadEventFired') this.loaded?.();
		});
	}

	send(method, params) {
		return this.browser.send(method, params, this.sessionId);
	}

	async open(url) {
		const loaded = new Promise((resolve) => { this.loaded = resolve; });
		await this.send('Page.navigate', { url });
		await loaded;
	}

	// The value of an expression in the page; also a promise.
	async run(expression) {
		const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
		if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
		return result.value;
	}

	async until(expression, ms = 15000) {
		const end = Date.now() + ms;
		while (!(await this.run(expression))) {
			if (Date.now() > end) throw new Error(`not true within ${ms} ms: ${expression}`);
			await new Promise((resolve) => { setTimeout(resolve, 50); });
		}
	}

	async key(key, code, keyCode) {
		for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', { type, key, code, windowsVirtualKeyCode: keyCode, text: type === 'keyDown' && keyCode === 13 ? '\r' : undefined });
	}

	async screenshot() {
		const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
		return Buffer.from(data, 'base64');
	}

	close() {
		return this.browser.send('Target.closeTarget', { targetId: this.targetId });
	}
}
