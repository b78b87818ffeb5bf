package streamable

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestReplyAfterItsEnd checks that writes after the handler's return have no effect: the connection may
// belong to another request by then.
func TestReplyAfterItsEnd(t *testing.T) {
	w := httptest.NewRecorder()
	r := newResponseWriter(w, time.Second, time.Second)
	r.Header().Set("Content-Type", "text/event-stream")
	r.end()
	r.keepAlive()
	r.heartbeat()
	r.abort()
	r.WriteHeader(http.StatusTeapot)
	n, err := r.Write([]byte("late"))
	assert.Check(t, is.Equal(n, 0), err)
	assert.Check(t, err != nil, "%d bytes were written, %v", n, err)
	assert.Check(t, r.FlushError() != nil, "it was flushed")
	assert.Check(t, w.Body.Len() <= 0, "the answer is %d %q", w.Code, w.Body)
	assert.Check(t, is.Equal(w.Code, http.StatusOK), "%q", w.Body)
	assert.Check(t, !w.Flushed, "the answer is %d %q", w.Code, w.Body)
}
