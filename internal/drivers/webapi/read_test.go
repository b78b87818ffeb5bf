package webapi

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// progress is one progress message.
type progress struct {
	mu    sync.Mutex
	done  []float64
	total float64
	words string
}

func (p *progress) hear(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.words = append(p.done, done), total, message
}

func TestProgressOfALongDownload(t *testing.T) {
	const size = 3 << 20
	for _, known := range []bool{true, false} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/zip")
			if known {
				w.Header().Set("Content-Length", strconv.Itoa(size))
			}
			_, _ = w.Write(make([]byte, size))
		})
		var p progress
		action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
		_, err := action(gateway.WithProgress(soon(t), p.hear), &aai.Call{})
		assert.NilError(t, err)
		assert.Assert(t, len(p.done) >= 5, "%d reports of %v: %q", len(p.done), p.total, p.words)
		assert.Equal(t, p.words, "Downloading from "+s.URL, "%d %v", len(p.done), p.total)
		assert.Equal(t, (p.total == size), known, "%d %v", len(p.done), p.total)
		assert.Assert(t, known || p.total == 0, "%d reports of %v: %q", len(p.done), p.total, p.words)
		for i, done := range p.done {
			if done > size || i > 0 && done <= p.done[i-1] {
				t.Errorf("the reports are %v", p.done)
				break
			}
		}
	}
}

// A short download leaves progress to the gateway's heartbeat.
func TestNoProgressOfAShortDownload(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", strings.Repeat("x", 1000)))
	var p progress
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
	_, err := action(gateway.WithProgress(soon(t), p.hear), &aai.Call{})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(p.done, 0))
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 4 << 20: "4 MiB", 5<<20 + 600<<10: "5.6 MiB"} {
		assert.Check(t, is.Equal(sizeText(n), want), "%d", n)
	}
}
