package streamable

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// TestEventLogKeepsOrReports compares the log with one without limits: it returns exactly the events
// after the index, or reports that they are dropped. It never exceeds its limit.
func TestEventLogKeepsOrReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most, mostOfSession = 6000, 2500
		log := newEventLog(most, mostOfSession)
		all := map[string]map[string][][]byte{}
		for step := range rapid.IntRange(1, 120).Draw(t, "steps") {
			session := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "session")
			stream := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "stream")
			if all[session] == nil {
				all[session] = map[string][][]byte{}
			}
			if _, open := all[session][stream]; !open {
				all[session][stream] = nil
				log.open(session, stream)
			}
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				log.forget(session)
				delete(all, session)
			default:
				size := rapid.SampledFrom([]int{0, 10, 500, 2000, 4000}).Draw(t, "size")
				data := append(make([]byte, 0, size+8), fmt.Sprint(step)...)
				data = data[:max(len(data), size)]
				err := log.append(session, stream, data)
				assert.Equal(t, len(data)+eventCost > mostOfSession, (err != nil), "an event of %d bytes: %v", len(data), err)
				all[session][stream] = append(all[session][stream], data)
			}
			assert.Assert(t, log.bytes <= most, "the log has %d bytes", log.bytes)
			checkLog(t, log, all, mostOfSession)
		}
		for _, session := range []string{"a", "b", "c", "d"} {
			log.forget(session)
		}
		assert.Equal(t, log.bytes, 0)
		assert.Equal(t, log.order.Len(), 0)
		assert.Assert(t, is.Len(log.sessions, 0))
	})
}

func checkLog(t *rapid.T, log *eventLog, all map[string]map[string][][]byte, mostOfSession int) {
	for session, streams := range all {
		if own := log.sessions[session]; own != nil && own.bytes > mostOfSession {
			t.Fatalf("a session has %d bytes", own.bytes)
		}
		for stream, want := range streams {
			for index := range want {
				got, err := log.after(session, stream, index)
				if err != nil {
					assert.Assert(t, is.ErrorIs(err, mcp.ErrEventsPurged))
					continue
				}
				assert.Assert(t, slices.EqualFunc(got, want[index+1:], func(a, b []byte) bool { return string(a) == string(b) }), "after %d of %s/%s come %d events, expected %d", index, session, stream, len(got), len(want)-index-1)
			}
		}
	}
}

// TestEventLogBeginsAnew checks that a client that reopens a session's own stream gets all stored
// events, and that the indexes match the SDK's, which start at zero.
func TestEventLogBeginsAnew(t *testing.T) {
	log := newEventLog(10*eventCost, 3*eventCost)
	log.open("s", "")
	if data, err := log.after("s", "", -1); err != nil || data != nil {
		t.Fatalf("a stream without events has %q, %v", data, err)
	}
	for i := range 5 {
		assert.NilError(t, log.append("s", "", []byte{byte('a' + i)}))
	}
	if _, err := log.after("s", "", 0); !errors.Is(err, mcp.ErrEventsPurged) {
		t.Errorf("what came after the first is said to be there: %v", err)
	}
	data, err := log.after("s", "", -1)
	assert.NilError(t, err, "%q", data)
	assert.Equal(t, string(slices.Concat(data...)), "de", "%q", data)
	_ = log.append("s", "", []byte("f")) // drops "d", which was sent as event 0
	data, err = log.after("s", "", 1)
	assert.NilError(t, err, "%q", data)
	assert.Equal(t, string(slices.Concat(data...)), "f", "%q", data)
}

// TestEventLogOfManyRequests checks that the oldest streams of a long session are dropped, and that a
// dropped stream does not restart with wrong indexes.
func TestEventLogOfManyRequests(t *testing.T) {
	log := newEventLog(1<<30, 1<<30)
	log.open("s", "")
	assert.NilError(t, log.append("s", "", []byte("own")))
	for i := range 10 * maxStreamsPerSession {
		name := fmt.Sprint(i)
		log.open("s", name)
		assert.NilError(t, log.append("s", name, []byte("prime")))
	}
	own := log.sessions["s"]
	if len(own.streams) != maxStreamsPerSession+1 || len(own.opened) != maxStreamsPerSession || log.order.Len() != maxStreamsPerSession+1 || own.order.Len() != maxStreamsPerSession+1 {
		t.Errorf("%d streams and %d events are kept", len(own.streams), log.order.Len())
	}
	assert.Check(t, log.append("s", "0", []byte("late")) != nil, "an event was kept, of a stream that is not")
	_, err := log.after("s", "0", 0)
	assert.Check(t, is.ErrorIs(err, mcp.ErrEventsPurged), "what came after is said to be known: %v", err)
	data, err := log.after("s", fmt.Sprint(10*maxStreamsPerSession-1), -1)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(data, 1))
	data, err = log.after("s", "", -1)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(data, 1))
}

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
