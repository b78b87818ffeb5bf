package oauth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// childRole is the variable that makes the test binary a separate gateway process, which
// authorizes requests and is killed.
const childRole = "AAI_LOGIN_CHILD"

// childOrder is the order for such a process.
type childOrder struct {
	Folder string        // of the secrets
	Recipe *aai.Recipe   // to authorize
	Ahead  time.Duration // offset of its clock
	Calls  int           // concurrent ones
	Times  int           // in sequence; the clock advances before each
	Step   time.Duration
	Say    bool // report the token endpoint's response, and store nothing
}

// runChild executes the order in the environment, and reports whether there is one.
func runChild() bool {
	raw := os.Getenv(childRole)
	if raw == "" {
		return false
	}
	var o childOrder
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		fmt.Println("error", err)
		return true
	}
	store := &folder{path: o.Folder}
	if o.Say {
		store.before = func(id string, _ []byte) {
			if strings.HasPrefix(id, "login/token/") {
				fmt.Println("writing")
				time.Sleep(time.Minute) // until it is killed
			}
		}
	}
	var later clock
	later.pass(o.Ahead)
	l := oauth.New(oauth.Config{Client: http.DefaultClient, Secrets: store, AllowLoopbackHTTP: true, Now: later.now})
	for range max(o.Times, 1) {
		later.pass(o.Step)
		var all sync.WaitGroup
		for range max(o.Calls, 1) {
			all.Go(func() { fmt.Println(childCall(l, o.Recipe)) })
		}
		all.Wait()
	}
	_ = l.Close()
	return true
}

// childCall authorizes one request, and returns its header or the error.
func childCall(l *oauth.Authorizer, r *aai.Recipe) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.HTTP.BaseURL+"/things", nil)
	if err != nil {
		return "error " + err.Error()
	}
	if err := l.Authorize(ctx, r, req); err != nil {
		return "error " + err.Error()
	}
	return "token " + strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
}
