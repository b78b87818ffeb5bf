package main

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

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
