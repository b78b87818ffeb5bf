package mcp

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/hygiene"
)

// What of a server's standard error is logged: so many lines a minute, each so long.
const (
	maxSaidLines = 200
	maxSaidLine  = 2000 // bytes
)

// said takes what a server writes to standard error: its lines go to the log, as many as a
// person would read, and the last ones are kept for when it breaks.
type said struct {
	log  *slog.Logger
	app  string
	veil *hygiene.Veil // nil: nothing is secret

	mu      sync.Mutex
	line    []byte
	kept    []string
	begun   time.Time
	count   int
	dropped int
}

// Write implements io.Writer. It never fails: who writes is to go on.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, part[:min(len(part), maxSaidLine-len(s.line))]...)
		if ended {
			s.tell()
			s.line = s.line[:0]
		}
		rest = after
	}
	return len(b), nil
}

// tell logs a line. The caller holds mu.
func (s *said) tell() {
	if now := time.Now(); now.Sub(s.begun) > time.Minute {
		if s.dropped > 0 {
			s.log.Warn("an MCP server wrote more than is logged", "app", s.app, "lines", s.dropped)
		}
		s.begun, s.count, s.dropped = now, 0, 0
	}
	if s.count++; s.count > maxSaidLines {
		s.dropped++
		return
	}
	words := s.clean(string(s.line))
	if words == "" {
		return
	}
	s.log.Info("an MCP server says", "app", s.app, "words", words)
	const most = 5
	if s.kept = append(s.kept, words); len(s.kept) > most {
		s.kept = s.kept[1:]
	}
}

func (s *said) clean(words string) string {
	if s.veil != nil {
		words = s.veil.Over(words)
	}
	return strings.TrimSpace(aai.CleanLabel(words, maxSaidLine))
}

// last is what was said last, in one line.
func (s *said) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(s.kept[:len(s.kept):len(s.kept)], s.clean(string(s.line))), " ")
}

// junk takes a line of standard output that is no message: some servers greet there.
func (s *said) junk(line []byte) {
	_, _ = s.Write(append(line[:len(line):len(line)], '\n'))
}
