const text = (() => {
	const windows = workspace.windowList();
	if (act && act.what === 'pointer') return JSON.stringify([workspace.cursorPos.x, workspace.cursorPos.y]);
	if (act) {
		const w = windows.find(w => String(w.internalId) === act.id);
		if (!w) return '[]';
		switch (act.what) {
		case 'activate': workspace.activeWindow = w; break;
		case 'raise': workspace.raiseWindow(w); break;
		case 'restore': w.minimized = false; break;
		case 'minimize': w.minimized = true; break;
		case 'close': w.closeWindow(); break;
		}
		return '[1]';
	}
	const rect = r => ({x: r.x, y: r.y, width: r.width, height: r.height});
	const here = w => !w.desktops || w.desktops.length === 0 || w.desktops.includes(workspace.currentDesktop);
	const present = w => !w.activities || w.activities.length === 0 || w.activities.includes(workspace.currentActivity);
	return JSON.stringify(windows.filter(w => !w.deleted).map(w => ({
		id: String(w.internalId), pid: w.pid, title: String(w.caption).slice(0, 500), class: String(w.resourceClass).slice(0, 500),
		frame: rect(w.frameGeometry), client: rect(w.clientGeometry), buffer: rect(w.bufferGeometry), stack: w.stackingOrder,
		active: w.active, minimized: w.minimized, modal: w.modal, popup: w.popupWindow || w.inputMethod,
		shown: !w.minimized && !w.hidden && here(w) && present(w),
	})));
})();
callDBus(receiver, '/', 'org.aai.gateway.Answer', 'Give', token, text);
