package streamable

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
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
	if n, err := r.Write([]byte("late")); n != 0 || err == nil {
		t.Errorf("%d bytes were written, %v", n, err)
	}
	if err := r.FlushError(); err == nil {
		t.Error("it was flushed")
	}
	if w.Body.Len() > 0 || w.Code != http.StatusOK || w.Flushed {
		t.Errorf("the answer is %d %q", w.Code, w.Body)
	}
}
