// Values of the status document as texts and elements. Names and messages come from Flink, from storage and from people:
// they are hostile. So they only ever become text nodes, and what a reader would not see, or what moves the text around
// it, is shown as its code. Any member may be missing or of another type: then nothing is shown.
'use strict';

const MOST_CHARACTERS = 1500; // of one text; what is longer is in the status
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// The time of the document: drey's clock, because the browser's may be wrong.
let nowMs = 0;

// ---- members

function str(value) {
	return typeof value === 'string' ? value : '';
}

function num(value, otherwise = 0) {
	return Number.isFinite(value) ? value : otherwise;
}

function obj(value) {
	return value && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

function list(value) {
	return Array.isArray(value) ? value : [];
}

function given(value) {
	return Boolean(value) && typeof value === 'object' && !Array.isArray(value);
}

// ---- elements

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== null) element.setAttribute(name, value);
	for (const each of children.flat(9)) {
		if (each instanceof Node) element.append(each);
		else if (each !== null && each !== undefined && each !== '') element.append(visible(String(each)));
	}
	return element;
}

// Children are elements, texts, lists of both, and null for nothing.
function el(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
	return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

// ---- texts

// The same characters as in html.c: controls, marks of direction, what has no width; the joiners that scripts need stay.
const UNSEEN = new RegExp('[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff0-\\ufffb' +
	'\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}]', 'gu');

function visible(text) {
	return text.replace(UNSEEN, function (character) {
		const code = character.codePointAt(0);
		return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
	});
}

function cut(text, most) {
	const characters = text.length > most ? Array.from(text) : [];
	return characters.length > most ? `${characters.slice(0, most).join('')}... (${characters.length - most} more characters)` : text;
}

// Apart from the direction of the text around it.
function text(value) {
	return str(value) ? el('bdi', null, cut(value, MOST_CHARACTERS)) : null;
}

// A sentence of drey: `code` is code.
function prose(value) {
	const parts = cut(str(value), MOST_CHARACTERS).split('`');
	if (parts.length % 2 === 0) parts.push(`${'`'}${parts.pop()}`);
	return str(value) ? el('bdi', null, parts.map((each, i) => (i % 2 && i < parts.length - 1 ? el('code', null, each) : each))) : null;
}

// A line of the runbook: code, emphasis, links to other causes; of other links only their text.
function markdown(value) {
	return Array.from(str(value).matchAll(/`([^`]+)`|\*([^*]+)\*|\[([^\]]+)\]\(([^)]*)\)|[^`*[]+|./gsu), function (found) {
		const [all, code, emphasis, label, target] = found;
		if (code) return el('code', null, code);
		if (emphasis) return el('em', null, emphasis);
		if (!label) return all;
		const page = /^([A-Za-z]+)\.md$/.exec(target);
		return page ? el('a', { href: `runbook/${page[1]}` }, markdown(label)) : markdown(label);
	});
}

function path(value) {
	return str(value) ? el('code', { class: 'path' }, text(value)) : null;
}

function size(bytes) {
	const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
	let value = num(bytes, -1);
	let unit = 0;
	if (value < 0) return null;
	for (; value >= 999.95 && unit + 1 < units.length; unit++) value /= 1000;
	return `${value.toFixed(unit && value < 99.95 ? 1 : 0)} ${units[unit]}`;
}

// ---- times

// Years of four digits only: others are no times.
function iso(unixMs) {
	return num(unixMs) > 0 && unixMs < 253402300800000 ? new Date(unixMs).toISOString() : '';
}

// "03:12:04", with the date if that is another day (UTC).
function clock(unixMs) {
	const date = iso(unixMs);
	const today = iso(nowMs);
	if (!date) return '';
	const hours = date.slice(11, 19);
	if (date.slice(0, 10) === today.slice(0, 10)) return hours;
	const year = date.slice(0, 4) === today.slice(0, 4) ? '' : `${date.slice(0, 4)} `;
	return `${date.slice(8, 10)} ${MONTHS[Number(date.slice(5, 7)) - 1]} ${year}${hours}`;
}

function time(unixMs) {
	return iso(unixMs) ? el('time', { datetime: iso(unixMs) }, clock(unixMs)) : null;
}

// Milliseconds of a date of the document (RFC 3339); 0 = none.
function date(value) {
	return num(Date.parse(str(value)));
}

// Two units, and one where the second says nothing: "14 min 3 s" is 14 minutes.
function duration(ms) {
	const units = [['d', 86400000], ['h', 3600000], ['min', 60000], ['s', 1000], ['ms', 1]];
	const whole = Math.floor(Math.abs(num(ms)));
	const at = units.findIndex(([, each]) => whole >= each);
	if (at < 0) return '0 ms';
	const [name, unit] = units[at];
	const count = Math.floor(whole / unit);
	const second = at < 3 && count < 10 ? Math.floor((whole % unit) / units[at + 1][1]) : 0;
	return `${ms < 0 ? '-' : ''}${count} ${name}${second ? ` ${second} ${units[at + 1][0]}` : ''}`;
}

// The time, and how long ago that is.
function since(unixMs) {
	const age = nowMs - num(unixMs);
	if (num(unixMs) <= 0) return null;
	return [time(unixMs), el('span', { class: 'age' }, age < 0 ? ` (in ${duration(-age)})` : ` (${duration(age)} ago)`)];
}
