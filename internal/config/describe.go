package config

import (
	"slices"
	"strings"
)

// Kinds of values of settings, in words for people.
const (
	KindBool    = "true or false"
	KindInteger = "whole number"
	KindNumber  = "number"
	KindText    = "text"
	KindPath    = "path"
	KindList    = "list"
	KindObject  = "object"
	KindEnum    = "one of" // one of Choices
	KindMixed   = "mixed"  // several kinds; see Summary
)

// A Description documents a setting.
type Description struct {
	Key     string
	Kind    string   // of its value
	Choices []string // of KindEnum
	Summary string   // its purpose: one sentence without its full stop
	Default any      // a Go value that encodes to the setting's JSON
	Env     []string // variables that set it; the first that is set counts
	Widens  string   // values or changes that a person must confirm; empty: none
}

// Describe documents all settings, in the order of settingSpecs. Paths in defaults are the
// person's paths.
func (c *Config) Describe() []Description {
	words := settingDocs()
	var all []Description
	for _, r := range settingSpecs() {
		a := words[r.key]
		all = append(all, Description{
			Key: r.key, Kind: a.kind, Choices: a.choices, Summary: a.summary,
			Default: r.get(c.defaults), Env: slices.Clone(r.env), Widens: r.widens.describe(),
		})
	}
	return all
}

// describe returns the values that widen, in words.
func (r wideningRule) describe() string {
	switch r {
	case widensUnlessDefault:
		return "any value but the standard one"
	case widensIfRelaxed:
		return "any value, in a variable or flag, that takes back what a file said"
	case widensIfLess:
		return "less than the standard value"
	case widensIfMore:
		return "more than the standard value"
	case widensInUserFile:
		return "holds by a variable, a flag or root's file, and never in the person's file"
	case widensIfChanged:
		return "any change that is made by the gateway and not in the file"
	case widensNever:
	}
	return ""
}

// A settingDoc is the documentation of a setting for people.
type settingDoc struct {
	kind    string
	choices []string
	summary string
}

func enumDoc(words string, choices ...string) settingDoc { return settingDoc{KindEnum, choices, words} }

// settingDocs returns the documentation of each setting.
func settingDocs() map[string]settingDoc {
	all := map[string]settingDoc{
		"scanPaths":           {KindList, nil, "folders with <app id>/aai.json"},
		"defaultTimeout":      {KindNumber, nil, "how many seconds a tool may take that says nothing itself, 1 to 3600"},
		"rescanInterval":      {KindNumber, nil, "seconds between full looks for descriptors, 1 to 3600; 0: only when a folder is seen to change"},
		"scan.interval":       {KindNumber, nil, "seconds between looks of a running gateway for new ways into apps, 60 to 604800; 0: never. What is found is said, and never switched on"},
		"logLevel":            enumDoc("what is logged: every call, calls that failed, and so on; commands log from warn unless it is set", "debug", "info", "warn", "error"),
		"logFile":             {KindPath, nil, "a regular file for the log, as JSON lines; without it, standard error"},
		"auditLog":            {KindPath, nil, "the file of the journal"},
		"toolNames":           enumDoc("how tools are named for agents: canonical lists aai:exec and app:<id>, which most models' APIs refuse", NamesSafe, NamesCanonical),
		"profile":             enumDoc("what agents are offered: apps, the desktop's windows, or all of it", ProfileApps, ProfileDesktop, ProfileAll),
		"dev":                 {KindBool, nil, "for makers of apps: on macOS also look in Xcode's build folders; web apps of this computer, over http too"},
		"dbus.allowSystemBus": {KindBool, nil, "whether tools may use the system bus"},
		"keychain.insecure":   {KindBool, nil, "the key of secrets may lie in a file where there is no keychain"},
		"desktop.session":     {KindText, nil, "whose screen is operated, where it is not the one of the own session: the id of a session, a display such as :0, or seat"},
		"desktop.actingSign":  {KindBool, nil, "whether a small sign on the screen shows that an agent acts on windows"},
		"desktop.stopKey":     {KindText, nil, "the key that stops all agents while one acts on windows, such as super+escape or pause; empty: none"},
		"enableWebUI":         {KindBool, nil, "whether the web page is served; the AAI protocol's name"},
		"httpPort":            {KindInteger, nil, "the port of the web page, 1 to 65535; the AAI protocol's name"},

		"journal.maxAge":      {KindInteger, nil, "for how many days the journal is kept, 1 to 3650"},
		"journal.maxSize":     {KindInteger, nil, "how many megabytes the journal keeps, 1 to 100000"},
		"journal.rotateSize":  {KindInteger, nil, "megabytes after which a file of the journal is put aside, 1 to 1000"},
		"journal.keepFull":    {KindBool, nil, "also keep what calls answered, and longer arguments"},
		"journal.answers":     {KindList, nil, "apps of whose calls what they answered is kept beside the record"},
		"journal.answersDays": {KindInteger, nil, "for how many days that is kept, 1 to 30"},
		"journal.pictures":    {KindList, nil, "apps, such as desktop/mousepad, of which is kept for a day what a window looked like after a call acted on it; * for all"},
		"workflow.maxSize":    {KindInteger, nil, "how many megabytes the runs of workflows may take on disk, 16 to 100000; the oldest are deleted first"},

		"cache.tree_ttl_ms":            {KindInteger, nil, "for how many milliseconds ax_get_tree gives the same answer again, unless anything acted, 0 to 60000"},
		"cache.screenshot_debounce_ms": {KindInteger, nil, "for how many milliseconds ax_screenshot gives the same picture again, unless anything acted, 0 to 60000"},
		"vlm.backend":                  enumDoc("accepted, and without effect: this version has no model that looks at pictures", "auto", "anthropic", "openai", "mlx", "gemini", "ollama"),
	}
	for _, more := range []map[string]settingDoc{policyDocs(), networkDocs()} {
		for key, words := range more {
			all[key] = words
		}
	}
	return all
}

// policyDocs returns the documentation of settings about the rights of callers.
func policyDocs() map[string]settingDoc {
	return map[string]settingDoc{
		"consent.preapproved":        {KindList, nil, `what callers may do without a question: {"app", "tools", "caller", "identity", "expires"} each`},
		"consent.dialog":             enumDoc("whether questions are put in windows where there is a screen", DialogAuto, DialogOff),
		"consent.elicitation":        {KindMixed, nil, "identities whose client may ask in its own form; true: all, false: none"},
		"server.security_mode":       enumDoc("how much callers may do at all; the stricter of this and of aai-gateway mode holds", "normal", "safe", "sandboxed"),
		"security.allowed_apps":      {KindList, nil, "names, ids and patterns of the only apps that may be used; empty: all"},
		"security.denied_apps":       {KindList, nil, "names, ids and patterns of apps that may not be used, whatever else is said"},
		"server.confirm_destructive": {KindBool, nil, "whether acts that may not be undone are asked about apart"},
		"security.destructive_words": {KindList, nil, "words by which an act counts as one that may not be undone, in any language"},

		"rate_limits.rps":                  {KindInteger, nil, "calls of tools for windows in a second, of each caller"},
		"rate_limits.rpm":                  {KindInteger, nil, "calls of tools for windows in a minute, of each caller"},
		"rate_limits.concurrency":          {KindInteger, nil, "calls of tools for windows at the same time, of each caller"},
		"rate_limits.vlm_rpm":              {KindInteger, nil, "looks with a model in a minute, of each caller; without effect in this version"},
		"rate_limits.script_rpm":           {KindInteger, nil, "AppleScripts of apps in a minute, of each caller"},
		"rate_limits.declared_rps":         {KindInteger, nil, "calls of apps' tools in a second, of each caller"},
		"rate_limits.declared_rpm":         {KindInteger, nil, "calls of apps' tools in a minute, of each caller"},
		"rate_limits.declared_concurrency": {KindInteger, nil, "calls of apps' tools at the same time, of each caller"},
	}
}

// networkDocs returns the documentation of settings about the network.
func networkDocs() map[string]settingDoc {
	return map[string]settingDoc{
		"net.allowPrivate":     {KindList, nil, "hosts on private networks that may be asked"},
		"web.rate":             {KindNumber, nil, "requests a second to one site at most, 0.1 to 10000; twice as many may go at once"},
		"login.sites":          {KindObject, nil, "by host or issuer: clientId, hosts of other sites that are trusted, redirectHost, redirectPort"},
		"login.env":            {KindList, nil, "variables that descriptors on this computer may name for keys"},
		"login.clientDocument": {KindText, nil, "the address where the gateway's client metadata document is published"},
		"login.browser":        {KindBool, nil, "whether pages to log in at are opened in the browser"},

		"http.port":             {KindInteger, nil, "the port of mcp serve --http; 0: any that is free"},
		"http.bind":             {KindText, nil, "the address that mcp serve --http listens on"},
		"http.sse":              {KindBool, nil, "also the transport of 2024-11-05"},
		"http.idle":             {KindNumber, nil, "seconds until a session ends that nobody uses, 1 to 3600"},
		"http.url":              {KindText, nil, "the server's address as clients know it, where it is not made of port and address"},
		"http.hosts":            {KindList, nil, "more names of the server"},
		"http.origins":          {KindList, nil, "web pages that may use the server"},
		"http.auth":             enumDoc("what clients must show: a token of this gateway, one of an issuer, or nothing", AuthToken, AuthOAuth, AuthNone),
		"http.issuer":           {KindText, nil, "whose tokens are good"},
		"http.audience":         {KindList, nil, "for whom tokens must be meant"},
		"http.scopes":           {KindList, nil, "which scopes tokens must have"},
		"http.clientId":         {KindText, nil, "as whom the issuer is asked about tokens"},
		"http.clientSecretFile": {KindPath, nil, "the file with the secret for that"},
	}
}

// FilePaths returns the paths of names under which a file may set key. The first is the one to
// write.
func FilePaths(key string) [][]string {
	names := []string{key}
	for other, is := range settingAliases() {
		if is == key {
			names = append(names, other)
		}
	}
	slices.Sort(names[1:])
	var all [][]string
	for _, name := range names {
		if group, rest, grouped := strings.Cut(name, "."); grouped {
			all = append(all, []string{group, rest})
		}
		all = append(all, []string{name})
	}
	return all
}
