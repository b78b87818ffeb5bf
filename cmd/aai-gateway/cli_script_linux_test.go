package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// service is the name of the app on the scripts' bus.
const service = "org.example.App"

// TestScripts runs the program itself, as a process, in the scripts of
// testdata/script. Each has a home folder of its own, $HOME, and no bus until it
// asks for one. The commands of the scripts, beside those of testscript:
//
//	aai CODE ARG...       runs aai-gateway, which must end with the exit code
//	bus                   starts a bus with an app on it, org.example.App
//	screen                starts a screen, $DISPLAY
//	calls METHOD N        so many calls of the method have reached the app by now
//	files FOLDER [N]      there are so many files below the folder, or none
//	mode FILE OCTAL       the file has the permissions
//	fifo FILE             makes a named pipe
//	large FILE SIZE TEXT  makes a file of the size that begins with the text
//	nested FILE DEPTH     makes a descriptor with a schema so deep
//	site [FILE]           starts a web site, $SITE, that offers the descriptor
//	trust                 the person trusts $SITE to be on a private network
//	asked N               the site was asked for its descriptor so often by now
//	api FILE              starts an API, $SITE, and writes the descriptor of an app on the web
//	shop FILE             starts a web site that people log in to, $SHOP, and writes its descriptor
//	smallshop             starts an API that describes itself, at $API/openapi.yaml
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv(session.PrivateMark, "1")
			env.Setenv("PERSON", "yes") // a user who approves the scripts' changes
			env.Setenv("XDG_DATA_DIRS", filepath.Join(env.WorkDir, "share"))
			descriptor, err := filepath.Abs(filepath.Join("testdata", "app.json"))
			if err != nil {
				return err
			}
			env.Setenv("DESCRIPTOR", descriptor) // of the app
			env.Setenv("WEB_DESCRIPTOR", filepath.Join(filepath.Dir(descriptor), "web.json"))
			env.Setenv("EARLIER", filepath.Join(filepath.Dir(descriptor), "earlier")) // data folder written by an earlier release
			env.Values["app"] = new(*testkit.BusService)
			env.Values["site"] = new(*scriptSite)
			env.Values["tb"] = env.T().(testing.TB)
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"aai":    scriptAAI,
			"bus":    scriptBus,
			"screen": scriptScreen,
			"calls":  scriptCalls,
			"files":  scriptFiles,
			"mode":   scriptMode,
			"fifo":   scriptFIFO,
			"large":  scriptLarge,
			"nested": scriptNested,
			"site":   scriptStartSite,
			"trust":  scriptTrust,
			"asked":  scriptAsked,
			"api":    scriptAPI,
			"shop":   scriptShop,

			"smallshop": scriptSmallShop,
		},
	})
}

func scriptAAI(ts *testscript.TestScript, _ bool, args []string) {
	want := number(ts, args[0])
	err := ts.Exec("aai-gateway", args[1:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptBus(ts *testscript.TestScript, _ bool, _ []string) {
	t := ts.Value("tb").(testing.TB)
	bus := testkit.StartBus(t)
	ts.Setenv("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	*ts.Value("app").(**testkit.BusService) = testkit.ServeOnBus(t, bus, service)
}

func scriptScreen(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("DISPLAY", linuxtest.Start(ts.Value("tb").(testing.TB)).Display)
}

func scriptCalls(ts *testscript.TestScript, _ bool, args []string) {
	app := *ts.Value("app").(**testkit.BusService)
	if app == nil {
		ts.Fatalf("there is no bus yet")
	}
	if got := app.Calls(args[0]); got != number(ts, args[1]) {
		ts.Fatalf("%d calls of %s have reached the app, want %s", got, args[0], args[1])
	}
}

func scriptFiles(ts *testscript.TestScript, _ bool, args []string) {
	var found []string
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	}))
	want := 0
	if len(args) > 1 {
		want = number(ts, args[1])
	}
	if len(found) != want {
		ts.Fatalf("%d files, want %d: %s", len(found), want, strings.Join(found, " "))
	}
}

func scriptMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[1] {
		ts.Fatalf("%s has the mode %s, want %s", args[0], got, args[1])
	}
}

func scriptFIFO(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

func scriptLarge(ts *testscript.TestScript, _ bool, args []string) {
	size, text := number(ts, args[1]), args[2]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text+strings.Repeat(" ", size-len(text))), 0o600))
}

func scriptNested(ts *testscript.TestScript, _ bool, args []string) {
	depth := number(ts, args[1])
	schema := strings.Repeat(`{"type":"object","properties":{"x":`, depth) + `{}` + strings.Repeat(`}}`, depth)
	text := `{"schema_version":"1.0","appId":"org.example.Nested","name":"N","description":"D","version":"1.0","platforms":{"linux":{` +
		`"automation":"dbus","service":"org.example.Nested","object":"/n","interface":"org.example.Nested","tools":[` +
		`{"name":"go","description":"Goes.","method":"Go","parameters":` + schema + `}]}}}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// scriptAPI starts an API and writes its descriptor into the file.
func scriptAPI(ts *testscript.TestScript, _ bool, args []string) {
	mux := http.NewServeMux()
	tell := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{
			"path": r.URL.EscapedPath(), "query": r.URL.RawQuery, "body": string(body), "client": r.Header.Get("X-Client"),
		})
	}
	mux.HandleFunc("GET /v1/notes/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "lost" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"title": "No such note", "detail": "It was thrown away."}`)
			return
		}
		tell(w, r)
	})
	mux.HandleFunc("POST /v1/notes/{id}", tell)
	mux.HandleFunc("GET /v1/plain", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "words\x1b[31m in red")
	})
	mux.Handle("GET /v1/away", http.RedirectHandler("https://example.org/?secret=1", http.StatusFound))
	mux.HandleFunc("POST /v1/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(mux)
	ts.Defer(site.Close)
	ts.Setenv("SITE", site.URL)

	descriptor, err := os.ReadFile(ts.Getenv("WEB_DESCRIPTOR"))
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(string(descriptor), "$SITE", site.URL)), 0o600))
}

// scriptSite is the web site of a script.
type scriptSite struct{ asked atomic.Int64 }

// scriptStartSite starts a web site that offers the file, or nothing, and other files at the paths
// of arguments such as /llms.txt=llms.txt. Its address is in $SITE, and $CACHED is the place of
// its cached copy; its certificate authority is one of the system's.
func scriptStartSite(ts *testscript.TestScript, _ bool, args []string) {
	site := &scriptSite{}
	mux := http.NewServeMux()
	for _, arg := range args {
		path, file, named := strings.Cut(arg, "=")
		if !named {
			path, file = "/.well-known/aai.json", arg
		}
		body := ts.ReadFile(file)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if !named {
				site.asked.Add(1)
			}
			_, _ = w.Write([]byte(body))
		})
	}
	server := httptest.NewTLSServer(mux)
	ts.Defer(server.Close)
	host := server.Listener.Addr().String()
	authority := ts.MkAbs("authority.pem")
	ts.Check(os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	ts.Setenv("SITE", host)
	ts.Setenv("SSL_CERT_FILE", authority)
	ts.Setenv("CACHED", filepath.Join(ts.Getenv("HOME"), ".cache", "aai-gateway", strings.ReplaceAll(host, ":", "_")))
	*ts.Value("site").(**scriptSite) = site
}

// scriptTrust makes the user trust $SITE.
func scriptTrust(ts *testscript.TestScript, _ bool, _ []string) {
	folder := filepath.Join(ts.Getenv("HOME"), ".aai")
	ts.Check(os.MkdirAll(folder, 0o700))
	ts.Check(os.WriteFile(filepath.Join(folder, "config.json"), fmt.Appendf(nil, `{"net": {"allowPrivate": [%q]}}`, ts.Getenv("SITE")), 0o600))
}

// scriptAsked checks the number of descriptor requests to the site.
func scriptAsked(ts *testscript.TestScript, _ bool, args []string) {
	if got := (*ts.Value("site").(**scriptSite)).asked.Load(); got != int64(number(ts, args[0])) {
		ts.Fatalf("the site was asked %d times, want %s", got, args[0])
	}
}
