package httpdoor

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// A Refusal is the answer to a request that the server rejects.
type Refusal struct {
	Status     int
	Message    string
	RetryAfter time.Duration // when to try again; 0: no Retry-After header
	Code       int64         // for Hooks.RefusalBody, in the door's protocol; 0: as the status says
}

// Write answers with the status and the Retry-After of r, and with body as JSON.
func (r Refusal) Write(w http.ResponseWriter, body any) {
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.RetryAfter.Seconds())))
	}
	b, err := json.Marshal(body)
	if err != nil {
		http.Error(w, r.Message, r.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.Status)
	_, _ = w.Write(b) // fails if the client has disconnected
}

// Refuse answers with r and the body that Hooks.RefusalBody returns for it. The client must accept
// the answer within WriteTimeout.
func (s *Server) Refuse(w http.ResponseWriter, r Refusal) {
	s.extendWriteDeadline(w)
	if s.hooks.RefusalBody == nil {
		r.Write(w, map[string]any{"error": r.Message})
		return
	}
	r.Write(w, s.hooks.RefusalBody(r))
}

// TooManyRequests asks the caller to try again in a second.
func TooManyRequests(message string) Refusal {
	return Refusal{Status: http.StatusTooManyRequests, Message: message, RetryAfter: time.Second}
}
