package gui_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealTwoGateways: each client starts its own gateway. Two of them type into two fields of one
// window at once, and each text arrives only in its field.
func TestRealTwoGateways(t *testing.T) {
	t.Parallel()
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			one := newRealWorld(t)
			f := one.Fixture(t, kind)
			app := one.process(f.App)
			two := joined(t, one.Session, one.Getenv)
			var all sync.WaitGroup
			for w, field := range map[*realWorld]string{one: "Full name", two: "Notes"} {
				all.Go(func() {
					for n := range 6 {
						text := strings.Repeat(fmt.Sprintf("%s %d. ", field, n), 4)
						result, err := w.do(t.Context(), "ax_type", params{"app": app, "query": field, "text": text, "clear_first": true})
						if err != nil {
							t.Errorf("%q into %s: %v", text, field, err)
							continue
						}
						assert.Check(t, is.Equal(at(asJSON(t, result.Data), "verified"), true), "%q into %s: %s, warning %q", text, field, result.Text, result.Warning)
						found, err := w.do(t.Context(), "ax_get_value", params{"app": app, "query": field})
						if err != nil || !strings.Contains(found.Text, strings.TrimSpace(text)) {
							t.Errorf("%s holds %v, %v; want %q", field, found, err, text)
						}
					}
				})
			}
			all.Wait()
		})
	}
}
