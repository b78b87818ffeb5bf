package oauth_test

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	command "os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// start starts a gateway process, and returns its output, line by line.
func (w *world) start(o childOrder) (*command.Cmd, *bufio.Scanner) {
	w.t.Helper()
	o.Folder, o.Recipe = w.secrets.path, w.recipe
	raw, err := json.Marshal(o)
	assert.NilError(w.t, err)
	cmd := command.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+string(raw))
	cmd.Stderr = &w.logs
	return cmd, bufio.NewScanner(testkit.StartProcess(w.t, cmd).Out)
}

// TestRow14TwoProcesses: two gateways refresh one login at the same moment, with four
// calls each. The real server ends a login whose refresh token is used twice.
func TestRow14TwoProcesses(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	_, first := w.kept()
	for round := range 3 {
		ahead := time.Duration(round+1) * beyondTokenLife
		var mu sync.Mutex
		tokens := make(map[string]int)
		var all sync.WaitGroup
		for range 2 {
			cmd, lines := w.start(childOrder{Ahead: ahead, Calls: 4})
			all.Go(func() {
				for lines.Scan() {
					mu.Lock()
					tokens[lines.Text()]++
					mu.Unlock()
				}
				_ = cmd.Wait()
			})
		}
		all.Wait()
		assert.Assert(t, is.Len(tokens, 1), "round %d: the 8 calls ended with %v", round, tokens)
		for said, n := range tokens {
			token, ok := strings.CutPrefix(said, "token ")
			assert.Assert(t, ok, "round %d: %d calls ended with %s", round, n, said)
			assert.Equal(t, n, 8, "%d %s", round, said)
			assert.Assert(t, token != first.Access, "round %d: %d calls ended with %s", round, n, said)
			assert.Equal(t, w.as.introspect(token)["active"], true, "%d %s", round, said)
		}
	}
}

// killRounds returns the number of kills.
func killRounds(t *testing.T) int {
	n := 20
	if s := os.Getenv("AAI_KILL_ROUNDS"); s != "" {
		given, err := strconv.Atoi(s)
		assert.NilError(t, err, "%q", s)
		assert.Assert(t, given >= 1, "AAI_KILL_ROUNDS is %q", s)
		n = given
	}
	return n
}

// killed runs a process that refreshes repeatedly, kills it at a random moment, and returns the
// tokens it used, in order.
func (w *world) killed() (used []string) {
	w.t.Helper()
	cmd, lines := w.start(childOrder{Ahead: beyondTokenLife, Times: 10_000, Step: beyondTokenLife})
	kill := time.AfterFunc(time.Duration(20+rand.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
	for lines.Scan() {
		if token, ok := strings.CutPrefix(lines.Text(), "token "); ok {
			used = append(used, token)
		}
	}
	_ = cmd.Wait()
	kill.Stop()
	return used
}

// whole fails the test unless the stored record is complete, and as new as the last used token.
func (w *world) whole(used []string) {
	w.t.Helper()
	id, kept := w.kept() // fails the test for an incomplete record
	assert.Assert(w.t, id != "", "what is kept is %q %+v", id, kept)
	assert.Assert(w.t, kept.Refresh != "", "what is kept is %q %+v", id, kept)
	assert.Assert(w.t, kept.Access != "", "what is kept is %q %+v", id, kept)
	assert.Assert(w.t, len(used) <= 0 || !slices.Contains(used[:len(used)-1], kept.Access), "a token was used before it was kept")
}

// TestRow14KilledAndForgiven: with a server that accepts a refresh token until its successor is
// used, no login is lost.
func TestRow14KilledAndForgiven(t *testing.T) {
	s := newStage(t)
	var mu sync.Mutex
	good := map[string]bool{"a-refresh-token": true}
	heirs, count := make(map[string][]string), 0
	s.logIn()
	s.fake.setHandler("/token", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		given := r.Form.Get("refresh_token")
		if !good[given] {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		count++
		next := "refresh-" + strconv.Itoa(count)
		heirs[given] = append(heirs[given], next)
		clear(good) // all but the used one and its successors
		good[given] = true
		for _, heir := range heirs[given] {
			good[heir] = true
		}
		writeJSON(w, http.StatusOK, map[string]any{"access_token": "access-" + strconv.Itoa(count), "refresh_token": next, "token_type": "Bearer", "expires_in": 600})
	})
	for range killRounds(t) {
		s.whole(s.killed())
		s.clock.ahead.Store(int64(40_000 * beyondTokenLife))
		assert.NilError(t, s.authorize(t.Context()))
		s.clock.ahead.Store(0)
		s.editToken(func(m map[string]any) { m["Expires"], m["Obtained"] = time.Now().Add(time.Minute), time.Now() })
	}
	n := s.windows.Load()
	assert.Check(t, n == 1, "%d windows, %d refreshes", n, count)
	assert.Check(t, count >= killRounds(t), "%d windows, %d refreshes", n, count)
}

// TestRow14KilledInBetween kills the process between the server's response and the write. The
// token was not used, and the stored record is the old or the new one.
func TestRow14KilledInBetween(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	for range 3 {
		w.works()
		_, before := w.kept()
		cmd, lines := w.start(childOrder{Ahead: time.Duration(w.clock.ahead.Load()) + beyondTokenLife, Say: true})
		if !lines.Scan() || lines.Text() != "writing" {
			t.Fatalf("the process said %q", lines.Text())
		}
		_ = cmd.Process.Kill()
		for lines.Scan() {
			t.Errorf("after the kill the process said %q", lines.Text())
		}
		_ = cmd.Wait()
		w.whole(nil)
		_, kept := w.kept()
		assert.Check(t, is.Equal(kept.Access, before.Access), "a process that was killed wrote %s", kept.Access)
		w.clock.pass(beyondTokenLife)
		w.fails(t.Context(), aai.AuthExpired)
	}
}
