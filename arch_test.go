package aai_test

// anything stands for every package of ours that is not for tests alone.
const anything = "*"

// A room is one package of ours, and a row of the map.
type room struct {
	name    string   // the import path; without "aai/", except for the root
	ours    []string // packages of ours that it may import
	modules []string // modules of third parties that it may import
	tests   []string // what its tests may import besides: packages of ours and modules
	why     string
	forTest bool // may be imported by tests only
}

// theMap says who may import whom. It fails closed: what is not on it is not
// allowed. A new arrow changes it in the same commit, with the reason.
func theMap() []room {
	const (
		sdk       = "github.com/modelcontextprotocol/go-sdk"
		godbus    = "github.com/godbus/dbus/v5"
		jsontext  = "github.com/go-json-experiment/json"
		draft07   = "github.com/santhosh-tekuri/jsonschema/v6"
		fsnotify  = "github.com/fsnotify/fsnotify"
		flock     = "github.com/gofrs/flock"
		jose      = "github.com/go-jose/go-jose/v4"
		keyring   = "github.com/zalando/go-keyring"
		crypto    = "golang.org/x/crypto"
		image     = "golang.org/x/image"
		sqlite    = "modernc.org/sqlite"
		sys       = "golang.org/x/sys"
		cobra     = "github.com/spf13/cobra"
		pflag     = "github.com/spf13/pflag"
		runewidth = "github.com/mattn/go-runewidth"
		rapid     = "pgregory.net/rapid"
		tokenizer = "github.com/tiktoken-go/tokenizer"
		term      = "golang.org/x/term"
		text      = "golang.org/x/text"
		net       = "golang.org/x/net"
		ssrf      = "code.dny.dev/ssrf"
		rate      = "golang.org/x/time"
		oauth2    = "golang.org/x/oauth2"
		xsync     = "golang.org/x/sync"
		toxiproxy = "github.com/Shopify/toxiproxy/v2"
		cyclonedx = "github.com/CycloneDX/cyclonedx-go"
		systemd   = "github.com/coreos/go-systemd/v22"
		zerolog   = "github.com/rs/zerolog" // toxiproxy is made with a logger of its kind
		burntToml = "github.com/BurntSushi/toml"
		hujson    = "github.com/tailscale/hujson"
		goccy     = "github.com/goccy/go-yaml"

		hygiene = "internal/hygiene"
		schema  = "internal/schema"
		catalog = "internal/catalog"
		lint    = "internal/lint"
		site    = "internal/site"
		whole   = "internal/wholefile"
		policy  = "internal/policy"
		journal = "internal/journal"
		wire    = "internal/dbuswire"
		dbus    = "internal/drivers/dbus"
		desktop = "internal/desktop"
		ax      = "internal/ax"
		tokens  = "internal/tokens"
		linux   = "internal/desktop/linuxtest"
		private = "internal/desktop/private"
		egress  = "internal/egress"

		discovery = "internal/discovery"
		jsontree  = "internal/jsontree"

		httpdoor = "internal/doors/httpdoor"
		bearer   = "internal/doors/httpdoor/bearer"
		form     = "internal/doors/web/form"
		tasks    = "internal/doors/mcp/tasks"
		messages = "internal/doors/mcp/messages"
		overHTTP = "internal/doors/mcp/streamable"
		keychain = "internal/keychain"
		database = "internal/database"
		login    = "internal/login"
		session  = "internal/session"
		seat     = "internal/seat"
		process  = "internal/process"
		proof    = "internal/proof"
		splice   = "internal/install/splice"
		script   = "internal/script"
		leash    = "internal/leash"
		halt     = "internal/halt"
		shelf    = "internal/shelf"
		entries  = "internal/desktopentry"
		search   = "internal/search"
	)
	return []room{
		{name: hygiene, why: "what of texts and secrets may be shown, kept and said again; it knows only text, so all may ask it"},
		{name: "aai", ours: []string{hygiene}, why: "the words of the house: everybody knows them, they know nobody but what makes a text harmless"},
		{name: jsontree, ours: []string{"aai"}, modules: []string{jsontext},
			why: "JSON as nodes that know their places, read in one way for all who must say what is wrong where"},
		{name: schema, ours: []string{"aai", hygiene, jsontree}, modules: []string{draft07, jsontext, text},
			why: "the only place where a stranger's JSON Schema is read"},
		{name: whole, modules: []string{flock}, why: "reads, replaces and changes files whole, for whoever keeps something; it knows paths and bytes, and that processes take turns"},
		{name: "internal/ownpage", modules: []string{flock}, why: "where gateways show their own page, for the page that says it and the tools on windows that leave it alone; whether one still runs a lock tells"},
		{name: "internal/watchfile", modules: []string{fsnotify}, why: "tells when files change, for who shows what other gateways do; it knows paths"},
		{name: "internal/account", ours: []string{"aai", whole}, modules: []string{sys},
			why: "what the system says of the account, whatever the environment says: its home, what is its alone, what root wrote, and whether the kernel hides something"},
		{name: site, modules: []string{net}, why: "which hosts are of one owner or this computer's own, and how an origin is written: one answer for calls, logins, redirects and doors"},
		{name: entries, ours: []string{whole},
			why: "desktop entries as keys and values, for all who look for programs: read in one way, and never waited for"},
		{name: catalog, ours: []string{"aai", entries, hygiene, jsontree, schema, site}, modules: []string{jsontext, fsnotify, net},
			why: "a descriptor holds schemas, so reading one needs the other; which hosts are one site the public suffix list says"},
		{name: policy, ours: []string{"aai", hygiene, site, whole}, modules: []string{rate, text}, tests: []string{flock, keychain},
			why: "decides by what a Request says and by nothing else, in whatever form of its letters; a question names the site that answers for a host; rates are token buckets; its tests kill writers of a real vault, and hold locks of files"},
		{name: keychain, ours: []string{"aai", whole}, modules: []string{keyring, crypto},
			why: "seals what others must not read, and asks the system's keychain for the one key; it knows nothing of what it keeps"},
		{name: "internal/pictures", ours: []string{"aai", "internal/answers", schema}, tests: []string{ax, desktop + "/atspi", desktop + "/x11", desktop, seat},
			why: "what windows looked like after acts, for the person: the desktop's tools take pictures, and they are kept as answers are"},
		{name: halt, ours: []string{"aai", hygiene, schema, whole}, modules: []string{fsnotify}, tests: []string{journal},
			why: "what a person stopped, as a file that all their gateways watch; it needs nothing that may be gone; how it is started again is a command for a shell; its tests look at a real record of real processes for what came behind a stop"},
		{name: "internal/running", ours: []string{"aai", halt, schema, whole}, modules: []string{flock, fsnotify},
			why: "which calls are under way in all gateways: each tells in a file, and a lock says whether it lives; what is stopped is told beside it"},
		{name: proof, ours: []string{"aai", whole}, modules: []string{crypto}, tests: []string{keychain},
			why: "by what a person proves that it is they; the vault it is given, scrypt stretches"},
		{name: session, ours: []string{"aai", wire}, tests: []string{desktop + "/x11", private},
			why: "finds the person's session for all: login1 and the user manager are asked over the wire; how a screen is greeted it is given"},
		{name: "internal/dialog", ours: []string{"aai", seat, whole}, modules: []string{flock, sys}, tests: []string{desktop, desktop + "/x11", policy},
			why: "shows a question in a window, with the person's seat in hand, and knows nothing of what is asked; the gateways of one person take turns by a file's lock; its tests show the questions of the policy"},
		{name: login, ours: []string{"aai", site}, modules: []string{jose, oauth2}, tests: []string{flock},
			why: "how a person becomes known to a web app: which hosts are one site, what PKCE and DPoP are, libraries know; its test's store is locked"},
		{name: lint, ours: []string{"aai", hygiene, catalog, jsontree, schema, site}, tests: []string{"descriptors", jsontext},
			why: "reads a descriptor as the catalog does, and says more of it; the nodes tell the lines"},
		{name: database, ours: []string{"aai"}, modules: []string{sqlite},
			why: "a file of SQLite that several processes use, opened in one way for the index that may go and the state that must stay; it knows tables as text"},
		{name: journal, ours: []string{"aai", hygiene, whole, database}, modules: []string{sys},
			why: "records whatever happens, and must not fail with anybody else; the index is a database, the lock is the system's"},
		{name: egress, ours: []string{"aai", site}, modules: []string{ssrf, net}, tests: []string{toxiproxy, zerolog},
			why: "the one way out to the web, with the one guard; names are read as browsers do, owners told by the public suffix list"},
		{name: discovery, ours: []string{"aai", catalog, egress, hygiene}, modules: []string{xsync, rate},
			why: "web sites as apps: the catalog reads what they say, egress fetches it; lookups are shared and counted; what else they publish is quoted"},
		{name: discovery + "/ways", ours: []string{"aai", entries, wire, whole},
			why: "which ways there are into the apps of this computer: the bus it asks over the wire, files it reads; apps and servers of clients it is told of"},
		{name: wire, ours: []string{"aai"}, tests: []string{godbus},
			why: "speaks the protocol itself, for all who need a bus; the well-known library is its test's second opinion"},
		{name: dbus, ours: []string{"aai", wire}, tests: []string{godbus},
			why: "runs declared tools over the wire; the well-known library is its test's second opinion"},
		{name: dbus + "/dbustest", ours: []string{"aai"}, modules: []string{godbus}, forTest: true,
			why: "a real bus with services for tests, made with somebody else's library"},
		{name: "internal/drivers/webapi", ours: []string{"aai", hygiene, site}, modules: []string{jsontext, rate, text}, tests: []string{toxiproxy, "github.com/prometheus/client_golang", zerolog},
			why: "runs declared tools over HTTP; clients and logins are given to it, strangers' character sets and JSON it reads by libraries; the proxy of its tests must be given a log and counters"},
		{name: "internal/drivers/mcp", ours: []string{"aai", hygiene, leash, schema, whole}, modules: []string{sdk, jsontext}, tests: []string{catalog, policy, login, login + "/oidctest"},
			why: "runs the servers of MCP as apps: the protocol's client is the SDK's; a definition has a digest however it is written; on Windows a job object holds the processes; its tests put real consent in front"},
		{name: "internal/childtest", forTest: true, why: "starts processes that tests talk with, and tells whether one is gone"},
		{name: login + "/oidctest", ours: []string{"internal/childtest"}, forTest: true, why: "a real authorization server and a person at its pages, for logins, for doors that tokens open and for servers behind them"},
		{name: tokens, why: "how many tokens a text is, for whoever has a budget; it knows only text"},
		{name: tokens + "/tokenstest", modules: []string{tokenizer}, forTest: true, why: "counts tokens exactly, with the vocabulary"},
		{name: desktop, ours: []string{"aai"}, why: "words for what is seen, on no platform"},
		{name: desktop + "/query", ours: []string{"aai", desktop},
			why: "the language in which callers say which element they mean"},
		{name: desktop + "/refs", ours: []string{"aai", desktop, desktop + "/query"},
			why: "names for elements that outlive a snapshot; a name that is stale says what is like its element"},
		{name: desktop + "/outline", ours: []string{"aai", desktop, tokens},
			why: "what a snapshot shows, within a budget of tokens"},
		{name: desktop + "/delta", ours: []string{desktop, desktop + "/outline", tokens},
			why: "what changed between two snapshots, and what does so by itself; what came is told as outlines tell it"},
		{name: desktop + "/shottest", ours: []string{desktop}, modules: []string{rapid}, forTest: true,
			why: "snapshots for tests, from text and at random"},
		{name: process, why: "what a process runs, as /proc says: one answer for those who are operated and those who ask"},
		{name: "internal/peer", ours: []string{process}, modules: []string{sys}, why: "who is at the other end of standard input; it needs the system's calls for sockets and processes"},
		{name: desktop + "/mirror", ours: []string{desktop},
			why: "keeps what was read of an app while it is so, for every platform; it knows none"},
		{name: desktop + "/atspi", ours: []string{"aai", desktop, desktop + "/mirror", wire, process}, tests: []string{godbus, desktop + "/x11", seat},
			why: "trees and actions on Linux, over the wire; windows come as an interface"},
		{name: seat, ours: []string{"aai", whole}, modules: []string{flock, sys},
			why: "the person's pointer, keyboard and focus, shared by locks of files; questions and input take it, and it knows neither"},
		{name: desktop + "/x11", ours: []string{"aai", desktop, seat}, modules: []string{sys},
			why: "windows, pictures, pointer, keyboard and clipboard of X11, over its own protocol; shared memory needs the system's calls"},
		{name: desktop + "/launcher", ours: []string{"aai", desktop, entries, process}, why: "starts programs, and knows nothing of their windows; which of them are interpreters the processes' package says"},
		{name: desktop + "/fakedesktop", ours: []string{"aai", desktop, desktop + "/mirror"}, forTest: true, why: "a desktop in memory"},
		{name: desktop + "/desktoptest", ours: []string{"aai", desktop, desktop + "/query"}, forTest: true, why: "what every desktop must do"},
		{name: private, why: "a desktop of its own, for the demo and for tests; it knows programs and folders"},
		{name: linux, ours: []string{dbus + "/dbustest", session, private}, modules: []string{godbus}, forTest: true,
			why: "a private session with real windows, for every test on Linux; it bears the mark that keeps others out"},
		{name: ax + "/fault", ours: []string{"aai"}, why: "the errors that all the desktop's tools make, in one wording"},
		{name: ax + "/asked", ours: []string{"aai", desktop, desktop + "/refs"},
			why: "what a call of a desktop tool asks for, by its arguments alone; a reference is no word for what is hit"},
		{name: ax + "/values", ours: []string{"aai", desktop}, why: "what texts and single elements hold; it knows no snapshot"},
		{name: ax + "/sight", ours: []string{"aai", desktop}, modules: []string{image},
			why: "judges by pictures what no tree tells; a library scales them"},
		{name: ax + "/watch", ours: []string{"aai", desktop}, why: "waits by a program's events; it knows neither calls nor conversations"},
		{name: ax + "/memory", ours: []string{"aai", desktop, desktop + "/refs", desktop + "/delta", hygiene, whole, ax + "/watch"}, modules: []string{flock},
			why: "what is remembered between calls; commands of the terminal take turns by locks of files; passwords that were typed are taken out of later replies"},
		{name: ax + "/programs", ours: []string{"aai", desktop, desktop + "/delta", desktop + "/refs", seat, ax + "/asked", ax + "/fault", ax + "/memory", ax + "/sight", ax + "/watch"},
			why: "which program a call means, what of it gates ask, and what is in one that came; what begins something waits for the person's seat"},
		{name: ax + "/scene", ours: []string{"aai", desktop, desktop + "/refs", ax + "/asked", ax + "/fault", ax + "/values"},
			why: "what a snapshot says to a conversation: names, candidates, rows, menus, choices; it reads nothing anew"},
		{name: ax + "/operate", ours: []string{"aai", desktop, desktop + "/query", desktop + "/refs", desktop + "/delta", ax + "/asked", ax + "/fault", ax + "/memory", ax + "/programs", ax + "/scene", ax + "/sight", ax + "/values", ax + "/watch"},
			why: "finds what is meant, acts, and sees what came of it, for all tools; it knows none of them"},
		{name: ax, ours: []string{"aai", desktop, desktop + "/query", desktop + "/refs", desktop + "/outline", desktop + "/delta", tokens, schema, seat, ax + "/asked", ax + "/fault", ax + "/memory", ax + "/operate", ax + "/programs", ax + "/scene", ax + "/sight", ax + "/values", ax + "/watch"}, tests: []string{desktop + "/atspi", desktop + "/x11", desktop + "/launcher", godbus, policy, process, "internal/undo"},
			why: "the tools on the words of the desktop, on no platform; tests put real gates before real windows"},
		{name: "internal/again", ours: []string{"aai"}, why: "gives an answer again for a moment, of whatever tool it is told; the program tells it which, and when something acts"},
		{name: bearer, ours: []string{"aai", site, whole}, modules: []string{jose},
			why: "who a token speaks for: it knows OAuth, and nothing of MCP"},
		{name: httpdoor, ours: []string{"aai", bearer, site}, modules: []string{xsync},
			why: "what every door over HTTP stands in: it knows pages, tokens and strangers, and no protocol"},
		{name: form, ours: []string{"aai", hygiene, jsontree, schema},
			why: "a form of a stranger's schema, and arguments of what was typed into it; it knows no page and no call"},
		{name: tasks, ours: []string{"aai"}, modules: []string{sdk},
			why: "calls that outlast their requests, in front of whatever runs them"},
		{name: messages, ours: []string{"aai", tasks}, modules: []string{sdk, jsontext},
			why: "JSON-RPC around the SDK, for every transport; what the SDK drops of tasks is parked as a message is read"},
		{name: overHTTP, ours: []string{"aai", httpdoor, messages, tasks}, modules: []string{sdk},
			why: "MCP over HTTP: its sessions and streams in the frame of every such door; what is served is given to it"},
		{name: "internal/doors/mcp", ours: []string{"aai", hygiene, messages, overHTTP, site, tasks, tokens}, modules: []string{sdk}, tests: []string{httpdoor, bearer, policy, desktop, ax},
			why: "a door needs to know nothing but the Gateway, and how long its list is; its tests put real consent in front, and hold what it says of the desktop against the real tools"},
		{name: "internal/doors/cli", ours: []string{"aai", hygiene, jsontree}, modules: []string{cobra, pflag, runewidth, term},
			why: "a door needs to know nothing but the Gateway; answers it shows as their schemas promise them"},
		{name: "internal/doors/web", ours: []string{"aai", httpdoor, form, hygiene}, modules: []string{rate}, tests: []string{net, catalog, desktop + "/x11", "internal/dialog", halt, journal, policy, schema, seat, "internal/icons", "internal/own", "internal/running", "internal/config", "internal/settings", "internal/doctor", "internal/answers", "internal/pictures", "internal/undo", "internal/keychain", login, "internal/ownpage", "internal/watchfile"},
			why: "a door needs to know nothing but the Gateway: what it shows are answers of the own app's tools; its tests put the real ones behind it"},
		{name: "internal/config", ours: []string{"aai", egress, login, policy, proof, session, whole}, modules: []string{jsontext, burntToml},
			why: "what a person configured, layer by layer, and what of it widens: what a value may be it asks the room that uses it, and it makes nothing of any; a name given twice is a fault; older files are TOML"},
		{name: splice, modules: []string{hujson, "github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/v4"}, tests: []string{burntToml, goccy},
			why: "an entry into a person's JSON, TOML or YAML and out of it, all other bytes kept: kept parsers say where, and others judge in its tests"},
		{name: "internal/settings", ours: []string{"aai", "internal/config", splice, policy, proof, schema, whole}, tests: []string{"internal/keychain", "github.com/BurntSushi/toml", rapid},
			why: "the person's settings, shown and changed in their own file: what a setting is one room knows, how a file is edited another"},
		{name: "internal/greet", modules: []string{sdk},
			why: "starts a server as a client of MCP does, for who wants to see that it can be reached"},
		{name: "internal/install", ours: []string{"aai", "internal/account", "internal/greet", hygiene, splice, whole}, modules: []string{"github.com/rogpeppe/go-internal"}, tests: []string{burntToml, goccy, hujson},
			why: "agents' clients and their configurations: whose files they are the account says, what it wrote it starts as a client of MCP does; differences a library shows"},
		{name: "internal/undo", ours: []string{"aai", hygiene, schema}, tests: []string{keychain},
			why: "takes acts back by calls that it is given the way for; it knows results, and no app"},
		{name: "internal/workflow", ours: []string{"aai", "internal/undo", schema}, tests: []string{policy, dbus, godbus, "internal/ax", desktop, desktop + "/atspi", desktop + "/x11", seat},
			why: "several calls as one: it knows the gateway, and how acts are taken back; its tests put the real gates before it"},
		{name: "internal/workflow/state", ours: []string{"aai", database, "internal/undo", "internal/workflow"}, modules: []string{flock}, tests: []string{keychain},
			why: "how far workflows have come, in a database beside the index of the journal; it knows their records, and runs none; whose a run is a lock says"},
		{name: "internal/workflow/kept", ours: []string{"aai", jsontree, schema, whole, "internal/workflow", "internal/workflow/state"}, modules: []string{fsnotify}, tests: []string{keychain, policy},
			why: "the workflows of a person's folder as an app, and runs as tools: files it reads and watches, runs it is given a store of"},
		{name: search, ours: []string{"aai", catalog, database, hygiene, schema, tokens, whole}, tests: []string{"descriptors"},
			why: "finds the tools that do what is asked for: how a tool is told in a line the catalog knows, how they are ranked the database; apps, uses and refusals it is given"},
		{name: "internal/answers", ours: []string{"aai", whole}, tests: []string{hygiene, keychain},
			why: "what calls answered, for who wants it kept: it knows entries and files, and is given what seals"},
		{name: "internal/own", ours: []string{"aai", "internal/answers", hygiene, schema, catalog, policy, journal, keychain, lint, login, proof, site},
			why: "the gateway's own app: its tools are what these rooms can do"},
		{name: "internal/icons", ours: []string{"aai", entries, schema, whole},
			why: "pictures of apps from the desktop's icon themes, which are in the format of desktop entries; which entries are of which app it is told"},
		{name: shelf, ours: []string{"aai", catalog, whole}, modules: []string{"github.com/rogpeppe/go-internal"},
			why: "the folder of a person's descriptors: what lies there, what would change, and saved as it was shown; whoever makes one gives it the text; differences a library shows"},
		{name: "internal/generate", ours: []string{"aai", catalog, entries, lint, schema, shelf, whole, wire}, tests: []string{dbus, private},
			why: "descriptors from what programs say of themselves: the bus it asks by recipes, through a driver that it is given; types are read as the wire reads them"},
		{name: "internal/openapi", ours: []string{"aai", catalog, jsontree, schema, site}, modules: []string{"github.com/getkin/kin-openapi", "go.yaml.in/yaml/v4"}, tests: []string{"bench/shop", "internal/drivers/webapi", lint, goccy},
			why: "a descriptor of an API from its OpenAPI document, which a kept library reads behind a budget of ours; its tests run what comes of it on a server"},
		{name: "internal/imports", ours: []string{"aai", catalog, hygiene, "internal/install", lint, "internal/openapi", schema, shelf, whole}, tests: []string{"bench/shop", "internal/drivers/webapi"},
			why: "what a person has already, as apps: what it is made of, how it is saved these rooms know"},
		{name: leash, modules: []string{sys},
			why: "processes that do not outlive this one, nor what they have started: how each system holds them, for whoever starts one; it knows commands and pipes"},
		{name: script + "/child", ours: []string{"aai"}, modules: []string{"github.com/dop251/goja", "github.com/elastic/go-seccomp-bpf", sys},
			why: "the process in which a script runs, and what is said to it: the language is a library's, and what the process may not do the system sees to"},
		{name: script, ours: []string{"aai", leash, schema, script + "/child"}, tests: []string{policy},
			why: "scripts of callers: it has their processes started, ends them, and makes the calls that they ask for; its tests put real gates before the calls"},
		{name: "descriptors", tests: []string{"internal/undo", catalog, schema, policy, journal, dbus, private},
			why: "embeds files; only its tests know what reads and runs them"},
		{name: "internal/errands", ours: []string{"aai"}, tests: []string{catalog},
			why: "a web app with a login of its own, for the demo and the doctor; it knows HTTP, and its test how descriptors are read"},
		{name: "internal/doctor", ours: []string{"aai", "internal/greet", hygiene, schema, "internal/errands", private}, modules: []string{godbus},
			why: "tries every way for real: a private session, a web app, and a service made with a library that is not ours; gateways it is given"},
		{name: "internal/demo", ours: []string{"aai", "descriptors", session, private, "internal/errands"}, modules: []string{sdk},
			why: "an agent in a session of its own, for people to look at: a client of MCP; the gateway it is given as something that runs commands"},
		{name: "cmd/aai-gateway", ours: []string{anything}, modules: []string{sys, systemd}, tests: []string{sdk, "bench/shop"},
			why: "the one place where the rooms are joined; poll tells that nobody reads the answers; systemd may have opened the server's socket"},
		{name: "packaging", ours: []string{ax, "internal/doors/cli"}, modules: []string{cobra, image, cyclonedx}, tests: []string{sdk, draft07},
			why: "what stands around the program when it is given to others; the manual is made of the command line's own tree, with the desktop's tools in it"},
		{name: "apps", tests: []string{sdk}, forTest: true,
			why: "lets the built program operate real ones, and asks others what has come of it; it knows none of our rooms but the tests' desktop"},
		{name: "bench", tests: []string{anything, sdk}, forTest: true,
			why: "measures all of it, from outside"},
		{name: "bench/echo", ours: []string{"aai", catalog, policy, journal, "internal/own", "internal/doors/mcp", overHTTP, httpdoor, bearer},
			why: "the gateway with an app that answers by itself: joins the rooms of a call as the program does"},
		{name: "bench/shop", forTest: true, why: "an API with its OpenAPI document that knows nothing of the gateway"},
		{name: "bench/peers/baresdk", modules: []string{sdk}, why: "the peer: what the SDK costs without us"},
		{name: "bench/peers/shopmcp", modules: []string{sdk}, why: "a shop as its makers would serve it over MCP: what stands behind us, beside the same shop by other ways"},
		{name: "bench/peers/bareproxy", modules: []string{sdk}, why: "the peer: what the SDK costs between a client and a server, without us"},
		{name: "bench/peers/mcpgo", modules: []string{"github.com/mark3labs/mcp-go"}, why: "the peer: what another SDK costs"},
	}
}

// testModules are what the tests of every room may import.
func testModules() []string {
	return []string{
		"pgregory.net/rapid",
		"github.com/google/go-cmp",
		"github.com/rogpeppe/go-internal",
		"github.com/godbus/dbus/v5",
		"go.uber.org/goleak",
		"golang.org/x/sys",  // pseudo-terminals and signals
		"golang.org/x/text", // what is how wide, as a second opinion
	}
}

// testRooms are what the tests of every room of ours may import.
func testRooms() []string {
	return []string{
		"aai", "internal/childtest", "internal/drivers/dbus/dbustest", "internal/tokens/tokenstest",
		"internal/desktop/fakedesktop", "internal/desktop/desktoptest", "internal/desktop/linuxtest",
		"internal/desktop/shottest", "internal/login/oidctest",
	}
}
