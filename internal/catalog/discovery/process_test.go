package discovery_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// otherVariable makes the test program another gateway, which repeatedly writes and reads the
// cache in the folder "<folder>|<host>".
const otherVariable = "AAI_DISCOVERY_TEST_OTHER"

// rounds is the number of repetitions.
const rounds = 60

// runOtherGateway is that gateway. Half of its operations write a descriptor.
func runOtherGateway(what string) {
	folder, host, _ := strings.Cut(what, "|")
	h, err := netguard.ParseHost(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range rounds {
		body := replaced("Keeps notes.", fmt.Sprintf("Keeps %d notes of %d.", i, os.Getpid()))
		if err := discovery.WriteCache(folder, h, body); err != nil {
			fmt.Println("write:", err)
		}
		if text, found := discovery.ReadCache(folder, h); found && !strings.HasSuffix(text, "]}") {
			fmt.Printf("half a copy: %q\n", text)
		}
	}
}

// TestManyProcesses checks that several gateways that write one copy concurrently never read a
// partial one.
func TestManyProcesses(t *testing.T) {
	folder := t.TempDir()
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), otherVariable+"="+folder+"|example.com")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	running.Wait()
	left, err := os.ReadDir(folder + "/example.com")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 2))
}

// TestWhoLeavesDoesNotSpoilIt checks that if the first caller cancels, the others still get their
// result.
func TestWhoLeavesDoesNotSpoilIt(t *testing.T) {
	w := newWorld(t)
	asked, release := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	serve := w.serve
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		if once.CompareAndSwap(false, true) {
			close(asked)
		}
		<-release
		serve(rw, r)
	})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := w.web.Find(ctx, w.host)
		left <- err
	}()
	<-asked
	leave()
	assert.Check(t, (<-left) != nil, "found without an answer")
	close(release)
	w.find(w.host)
	w.wasAsked(1)
}

// TestPlainSiteByID checks an app id of this computer's own server, which has no scheme: another
// process finds it at the same place.
func TestPlainSiteByID(t *testing.T) {
	w := newWorld(t)
	plain := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(replaced("", ""))) }))
	defer plain.Close()
	host := strings.TrimPrefix(plain.URL, "http://")
	w.config.Client = w.client(host)
	w.restart()
	app := w.find(plain.URL)
	w.restart()
	again := w.find(app.ID)
	assert.Check(t, is.Equal(again.ID, app.ID))
	assert.Check(t, is.Equal(again.Digest, app.Digest))
}
