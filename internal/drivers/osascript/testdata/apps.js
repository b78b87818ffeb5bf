// Applications for scripts of JXA, in the place of those of macOS. Each keeps the calls in acts.
var acts = [], applications = {};
var Automation = { getDisplayString: function (o) { return o.display; } };
function delay() {}
function elements() {
	var list = [];
	var f = function () { return list; };
	f.push = function (x) { list.push(x); acts.push(["push", x]); };
	f.whose = function (filter) { acts.push(["whose", filter]); return f; };
	f.byName = function (name) { acts.push(["byName", name]); return { body: function () { return "body of " + name; }, delete: function () { acts.push(["delete", name]); } }; };
	f.list = list;
	return f;
}
function Application(name) {
	if (name === "Nope") {
		var e = new Error("Application can't be found.");
		e.errorNumber = -2700;
		throw e;
	}
	if (name === "Denied") {
		var e = new Error("An error occurred.");
		e.errorNumber = -1743;
		throw e;
	}
	var app = applications[name] = applications[name] || { name: function () { return name; }, activate: function () {} };
	["outgoingMessages", "notes", "events", "calendars", "reminders"].forEach(function (n) { app[n] = elements(); });
	["OutgoingMessage", "Recipient", "Note", "Event", "Reminder"].forEach(function (n) {
		app[n] = function (p) { p.toRecipients = elements(); p.send = function () { acts.push(["send", p.subject]); }; return p; };
	});
	app.reference = function () { var f = function () {}; f.display = "Application(\"" + name + "\").windows.at(0)"; return f; };
	app.acts = function () { return acts.map(function (a) { return a[0] + " " + (a[1].subject || a[1].name || a[1].body || JSON.stringify(a[1])); }); };
	return app;
}
