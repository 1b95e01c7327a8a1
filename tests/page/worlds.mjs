// The states that the page is tested in: a status document for each phase, each class of causes, and for hostile input.

export const NOW = Date.UTC(2026, 10, 26, 3, 26, 14);
const S = 1000, MIN = 60 * S, H = 60 * MIN, DAY = 24 * H;

const job = (n) => `4f0c${String(n).padStart(2, '0')}`.padEnd(32, '7a');
const checkpoint = (n, id) => `s3://flink/orders/checkpoints/${job(n)}/chk-${id}`;
const savepoint = (n, name) => `s3://flink/orders/savepoints/savepoint-${job(n).slice(0, 6)}-${name}`;
const rfc = (ms) => (ms ? new Date(ms).toISOString() : null);

function launch(number, start, end, from, last, more = {}) {
	return {
		number, jobId: job(number), generation: number < 4 ? 'g-41' : 'g-42', flinkVersion: '2.3.0',
		restorePoint: from && { path: from.path, kind: from.kind, checkpointId: from.id, completedUnixMs: from.ms },
		intendedUnixMs: start - S, startedUnixMs: start, verifiedUnixMs: start + 9 * S, provenUnixMs: start + 40 * S,
		endedUnixMs: end || null, neverStarted: false, mismatched: false,
		lastCheckpoint: last && { id: last.id, path: checkpoint(number, last.id), completedUnixMs: last.ms },
		restoredFromLaunch: from ? from.launch : null, end: end ? 'killed by signal 9' : null,
		pod: number < 4 ? 'orders-jobmanager-6c9-x2' : 'orders-jobmanager-7d9-kq', ...more,
	};
}

const snapshot = (kind, launchNumber, id, ms, path, sizeBytes, origin = null) =>
	({ path, kind, checkpointId: id, completedAt: rfc(ms), sizeBytes, origin, launch: launchNumber });

// Six launches: started empty, killed twice, upgraded with a savepoint, gone back to an older checkpoint once.
export function history() {
	const t0 = NOW - 26 * DAY;
	const up = NOW - 3 * DAY;
	const sp3 = { path: savepoint(3, 'b1e0'), kind: 'savepoint', id: 201, ms: up, launch: 3 };
	const chk1 = { path: checkpoint(1, 90), kind: 'checkpoint', id: 90, ms: t0 + 9 * DAY, launch: 1 };
	const chk2 = { path: checkpoint(2, 140), kind: 'checkpoint', id: 140, ms: t0 + 15 * DAY, launch: 2 };
	const chk4 = { path: checkpoint(4, 230), kind: 'checkpoint', id: 230, ms: NOW - 5 * H, launch: 4 };
	const sp5 = { path: savepoint(5, '77aa'), kind: 'savepoint', id: 247, ms: NOW - 16 * MIN - 8 * S, launch: 5 };
	return {
		launches: [
			launch(1, t0, t0 + 9 * DAY + 20 * S, null, { id: 90, ms: chk1.ms }),
			launch(2, t0 + 9 * DAY + 31 * S, t0 + 16 * DAY, chk1, { id: 160, ms: t0 + 16 * DAY - 30 * S }),
			launch(3, t0 + 16 * DAY + 2 * MIN, up + 8 * S, chk2, { id: 200, ms: up - 50 * S }, { end: 'exited with 0' }),
			launch(4, up + 70 * S, NOW - 5 * H + 30 * S, sp3, { id: 230, ms: NOW - 5 * H }),
			launch(5, NOW - 5 * H + 42 * S, NOW - 14 * MIN, chk4, { id: 249, ms: NOW - 14 * MIN - 9 * S }),
		],
		snapshots: [
			snapshot('checkpoint', 5, 249, NOW - 14 * MIN - 9 * S, checkpoint(5, 249), 3123456789),
			snapshot('savepoint', 5, 247, sp5.ms, sp5.path, 3098765432, 'periodic'),
			snapshot('savepoint', 4, 220, NOW - 12 * H, savepoint(4, '0c0d'), 2998765432, 'manual'),
			snapshot('savepoint', 3, 201, up, sp3.path, 2900000000, 'stop'),
			snapshot('savepoint', 2, 150, t0 + 15.5 * DAY, savepoint(2, '5512'), 2000000000, 'periodic'),
			snapshot('checkpoint', 1, 90, chk1.ms, chk1.path, 1000000000),
		],
		sp5,
	};
}

const TRUE = (type, status, reason, message) => ({ type, status, reason, message, lastTransitionTime: rfc(NOW - 14 * MIN) });

export function document(phase, cause, reason, more = {}) {
	const { launches, snapshots, sp5 } = history();
	const runs = ['Running', 'Launching', 'Stopping', 'Terminating'].includes(phase);
	const list = [...launches];
	if (runs)
		list.push(launch(6, NOW - 13 * MIN, 0, { path: checkpoint(5, 249), kind: 'checkpoint', id: 249, ms: NOW - 14 * MIN - 9 * S, launch: 5 },
			{ id: 266, ms: NOW - 24 * S }));
	const last = list[list.length - 1];
	const transitions = [
		{ unixMs: NOW - 5 * H + 41 * S, text: 'Resolving: flink has ended' },
		{ unixMs: NOW - 5 * H + 42 * S, text: 'Launching: from checkpoint 230' },
		{ unixMs: NOW - 5 * H + 55 * S, text: 'Running: the job runs' },
		{ unixMs: NOW - 14 * MIN, text: 'Resolving: flink was killed by signal 9' },
	];
	if (runs) transitions.push({ unixMs: NOW - 13 * MIN, text: 'Launching: from checkpoint 249' }, { unixMs: NOW - 12 * MIN, text: 'Running: the job runs' });
	if (phase !== 'Running') transitions.push({ unixMs: NOW - 14 * MIN + 2 * S + (runs ? 13 * MIN : 0), text: `${phase}: ${reason}` });
	return {
		nowUnixMs: NOW, application: 'orders', phase, cause, reason, jobId: last.jobId,
		launch: { number: last.number, jobId: last.jobId, restorePoint: last.restorePoint, startedUnixMs: last.startedUnixMs,
			restoreVerified: true, proven: true, flinkVersion: '2.3.0', generation: last.generation },
		job: { reachable: runs, state: runs ? 'RUNNING' : null, restarts: runs ? 0 : null },
		tasks: runs ? { running: 12, total: 12 } : null, slots: runs ? { free: 0, total: 12 } : null, taskManagers: runs ? 3 : null,
		checkpoints: runs ? { completed: 17, failed: 0, inProgress: 0, failures: 0, failure: null, intervalMs: 60000, durationMs: 2100, sizeBytes: 3123456789 } : null,
		lastCheckpoint: last.lastCheckpoint && { id: last.lastCheckpoint.id, path: last.lastCheckpoint.path, completedUnixMs: last.lastCheckpoint.completedUnixMs },
		lastSavepoint: { path: sp5.path, checkpointId: 247, completedUnixMs: sp5.ms, origin: 'periodic', verified: true },
		snapshots, operation: null, savepointRequests: [], checkpointRequests: [], waits: [],
		lastOperation: { kind: 'savepoint', reason: 'periodic', nonce: null, ok: true, location: sp5.path, error: null, endedUnixMs: sp5.ms },
		desired: { state: 'running', doNotRestart: false }, attempts: { failed: 1, max: 5, windowMs: 10 * MIN }, outcome: null,
		lastError: null, lastErrorUnixMs: null, lastErrorLaunch: null, nextSavepointInMs: runs ? 94 * MIN : null,
		journal: { sequence: 812, broken: false, error: null }, control: { directory: null, configMap: 'orders-drey-control', readUnixMs: NOW - 4 * S, error: null, ignored: [] },
		conditions: [
			TRUE('Ready', phase === 'Running' && !cause ? 'True' : 'False', cause || phase, reason),
			TRUE('Reconciling', 'False', phase, ''), TRUE('Stalled', cause && !runs ? 'True' : 'False', cause || phase, reason),
			TRUE('RestoreVerified', 'True', 'Restored', 'checkpoint 249'),
		],
		transitions, waiting: [], launches: list, decision: null, retryInMs: phase === 'Holding' ? 12 * S : null, ...more,
	};
}

export function decision(kind, rule, cause, reason, offered) {
	const { snapshots } = history();
	return {
		unixMs: NOW - 18 * S, decision: kind, rule, cause, reason,
		sources: [
			{ name: 'journal', state: 'present', detail: 'sequence 812', leftOut: 0 },
			{ name: 'checkpoints', state: 'present', detail: '3 directories under s3://flink/orders/checkpoints', leftOut: 0 },
			{ name: 'savepoints', state: 'present', detail: '4 under s3://flink/orders/savepoints', leftOut: 0 },
		],
		candidates: snapshots.slice(1).map((s) => ({
			path: s.path, source: `${s.kind}s`, kind: s.kind, checkpointId: s.checkpointId, completedUnixMs: Date.parse(s.completedAt), sizeBytes: s.sizeBytes,
			integrity: s.launch === 5 ? 'complete' : 'unchecked', verdict: s.launch === 5 ? 'rejected' : 'older',
			reason: s.launch === 5 ? 'not the newest state on record' : 'older than savepoint 247', offered: Boolean(offered) && s.path === offered,
		})),
		candidatesLeftOut: 0,
	};
}

const { sp5 } = history();
const missing = `rule 6: checkpoint id 249 (${checkpoint(5, 249)}) was completed but not found; the newest found is ${sp5.path} (247); restore the missing one, or accept the loss with \`drey resume --from ${sp5.path}\``;
const hold = (cause, reason, more) => document('Holding', cause, reason, more);
const desired = (state, doNotRestart = false) => ({ desired: { state, doNotRestart } });

// Every phase.
export const phases = {
	Starting: null,
	Resolving: document('Resolving', null, 'flink was killed by signal 9; reading storage'),
	Holding: hold('NewestStateMissing', missing, { decision: decision('HOLD', 6, 'NewestStateMissing', missing, sp5.path) }),
	Launching: document('Launching', null, '7 of 12 tasks run: 2 TaskManagers, 0 of 8 slots free', { tasks: { running: 7, total: 12 }, slots: { free: 0, total: 8 }, taskManagers: 2 }),
	Running: document('Running', null, 'the job runs'),
	Stopping: document('Stopping', null, 'stopping with a savepoint, as requested', { ...desired('suspended'), operation: { kind: 'stop', reason: 'suspend', format: 'canonical', startedUnixMs: NOW - 31 * S } }),
	Suspended: document('Suspended', 'Suspended', `stopped with ${savepoint(5, '90ff')}; \`drey resume\` continues from it`, desired('suspended')),
	Cancelled: document('Cancelled', 'Cancelled', 'cancelled without a savepoint, as requested', desired('cancelled')),
	Finished: document('Finished', 'Finished', 'the job has finished'),
	Failed: document('Failed', 'AttemptsUsedUp', '5 attempts failed within 10 min', {
		attempts: { failed: 5, max: 5, windowMs: 10 * MIN }, lastErrorUnixMs: NOW - 15 * MIN, lastErrorLaunch: 5,
		lastError: 'org.apache.kafka.common.errors.TimeoutException: Timeout expired while fetching topic metadata\n\tat org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumerator.getSubscribedTopicPartitions(KafkaSourceEnumerator.java:237)',
	}),
	Terminating: document('Terminating', null, 'the container is being stopped'),
	Standby: document('Standby', 'StandingBy', 'orders-jobmanager-7d9-kq owns the application', { launches: [], snapshots: [], launch: null, lastCheckpoint: null, lastSavepoint: null, lastOperation: null, role: 'standby', owner: { pod: 'orders-jobmanager-7d9-kq' }, handover: { state: 'none' } }),
	Prepared: document('Prepared', 'Preparing', 'prepared; the job still runs in orders-jobmanager-7d9-kq', { launches: [], snapshots: [], launch: null, lastCheckpoint: null, lastSavepoint: null, lastOperation: null, role: 'candidate', owner: { pod: 'orders-jobmanager-7d9-kq' }, handover: { state: 'offered', to: { pod: 'orders-jobmanager-8f1-zz' }, stateUnixMs: NOW - 40 * S, why: 'offered to the new version' } }),
	Shadow: document('Shadow', 'Shadow', 'the job runs, with its output shut until it takes over', { role: 'candidate', owner: { pod: 'orders-jobmanager-7d9-kq' }, handover: { state: 'offered', to: { pod: 'orders-jobmanager-8f1-zz' }, stateUnixMs: NOW - 5 * MIN, why: 'its job runs in the shadow', transition: { state: 'shadow', waitsFor: 'a person: `drey promote`', cutUnixMs: null, above: 0, below: 0, replay: null } } }),
	HandedOver: document('HandedOver', 'StandingBy', 'handed over to orders-jobmanager-8f1-zz', { role: 'reserve', owner: { pod: 'orders-jobmanager-8f1-zz' }, handover: { state: 'taken', to: { pod: 'orders-jobmanager-8f1-zz' }, stateUnixMs: NOW - 9 * S, why: 'prepared' } }),
};

// One of each class of causes (agent/core/report/cause.h).
export const causes = {
	DoNotRestart: hold('DoNotRestart', 'do-not-restart is on; turn it off to allow a launch', desired('running', true)),
	GenerationFailed: document('Failed', 'GenerationFailed', 'generation g-42 has failed; deploy another one, or use `drey resume`'),
	StorageUnreadable: hold('StorageUnreadable', 'rule 5: cannot list s3://flink/orders/checkpoints: 403 AccessDenied; grant the right to list it'),
	NoUsableState: hold('NoUsableState', 'rule 8: the application has run before, but no usable snapshot was found; choose a snapshot with `drey resume --from PATH`, or accept the loss with `drey resume --empty`'),
	RequestWithoutToken: hold('RequestWithoutToken', 'rule 4: a restore request has no token'),
	LeaseElsewhere: hold('LeaseElsewhere', 'the lease is owned by eu-west-1b'),
	JournalBroken: document('Running', null, 'the job runs', { journal: { sequence: 812, broken: true, error: 'cannot write ConfigMap orders-drey-journal: 403 forbidden; allow the Role to update it' } }),
	JobNotRunning: document('Running', 'JobNotRunning', '0 of 12 tasks run: 0 TaskManagers, 0 of 0 slots; kubectl get pods -l app=orders', { tasks: { running: 0, total: 12 }, slots: { free: 0, total: 0 }, taskManagers: 0 }),
	HandoverRefused: document('Standby', 'HandoverRefused', 'generation g-43 has failed 3 times', { role: 'standby', owner: { pod: 'orders-jobmanager-7d9-kq' }, handover: { state: 'refused', to: { pod: 'orders-jobmanager-9aa-qq' }, stateUnixMs: NOW - 9 * MIN, why: 'main() threw' } }),
	InternalError: hold('InternalError', 'drey contradicts itself: an operation without a launch; restart the Pod'),
};

// What somebody else has written.
const evil = '</code><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\u001b[31m\u001b]0;owned\u0007';
const evilPath = "s3://b/'; rm -rf $HOME; echo '\u202egpj.exe";
export const hostile = {
	Markup: document('Holding', '"><script>', evil, {
		application: evil, lastError: evil, lastErrorUnixMs: NOW, job: { state: evil }, role: evil, owner: { pod: evil },
		decision: { ...decision('HOLD', 6, 'x', 'x', evilPath), candidates: [{ path: evilPath, offered: true, kind: evil, verdict: evil, reason: evil }] },
		launches: [{ number: 1, startedUnixMs: 1, pod: evil, end: evil, generation: evil, lastCheckpoint: { id: 1, completedUnixMs: 2 } }, { number: 2, startedUnixMs: -5, restoredFromLaunch: 1, restorePoint: { kind: evil, completedUnixMs: 9e15 } }],
		transitions: [{ unixMs: 9e15, text: `${evil}: ${evil}` }, { unixMs: 'x', text: 7 }],
		snapshots: [{ path: evilPath, kind: 'savepoint', launch: 1, completedAt: 'yesterday', origin: evil, sizeBytes: 1e300 }],
		conditions: [{ type: evil, status: evil, reason: evil, message: evil }],
	}),
	Long: hold('NewestStateMissing', 'cause '.repeat(1667), { application: 'a'.repeat(10000), decision: decision('HOLD', 6, 'NewestStateMissing', 'x'.repeat(10000), sp5.path) }),
	RightToLeft: hold('StorageUnreadable', 'تعذر قراءة الدليل s3://flink/طلبات: \u202eلا يوجد إذن\u2066', { application: 'طلبات-orders' }),
};

// Many launches, and long names.
export function many() {
	const launches = [];
	for (let n = 1; n <= 64; n++) {
		const start = NOW - (65 - n) * (65 - n) * 3 * MIN;
		const end = n < 64 ? NOW - (64 - n) * (64 - n) * 3 * MIN - 20 * S : 0;
		launches.push(launch(n, start, end, n > 1 ? { path: checkpoint(n - 1, n), kind: 'checkpoint', id: n, ms: start - 30 * S, launch: n - 1 } : null, { id: n + 1, ms: (end || NOW) - 12 * S }));
	}
	const snapshots = [];
	for (let n = 0; n < 50; n++) snapshots.push(snapshot('savepoint', 64 - n, 64 - n, NOW - n * n * 3 * MIN - 30 * S, savepoint(64 - n, `${n}`), 1e9 + n, 'periodic'));
	return document('Running', null, 'the job runs', { launches, snapshots });
}

export const all = { ...phases, ...causes, ...hostile, Many: many() };
