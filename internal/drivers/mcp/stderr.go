package mcp

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits for logging a server's standard error: lines per minute, and the length of a line.
const (
	maxStderrLines = 200
	maxStderrLine  = 2000 // bytes
)

// stderrLog logs a server's standard error up to a readable amount, and keeps the last lines for
// error messages.
type stderrLog struct {
	log     *slog.Logger
	app     string
	secrets *sanitize.SecretSet

	mu      sync.Mutex
	line    []byte
	tail    []string
	begun   time.Time
	count   int
	dropped int
}

// Write implements io.Writer. It never fails, so that the server continues.
func (s *stderrLog) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		s.line = append(s.line, part[:min(len(part), maxStderrLine-len(s.line))]...)
		if ended {
			s.logLine()
			s.line = s.line[:0]
		}
		rest = after
	}
	return len(b), nil
}

// logLine logs a line. The caller holds mu.
func (s *stderrLog) logLine() {
	if now := time.Now(); now.Sub(s.begun) > time.Minute {
		if s.dropped > 0 {
			s.log.Warn("an MCP server wrote more than the log accepts", "app", s.app, "lines", s.dropped)
		}
		s.begun, s.count, s.dropped = now, 0, 0
	}
	if s.count++; s.count > maxStderrLines {
		s.dropped++
		return
	}
	words := s.clean(string(s.line))
	if words == "" {
		return
	}
	s.log.Info("an MCP server wrote", "app", s.app, "words", words)
	const most = 5
	if s.tail = append(s.tail, words); len(s.tail) > most {
		s.tail = s.tail[1:]
	}
}

func (s *stderrLog) clean(words string) string {
	return strings.TrimSpace(aai.CleanLabel(s.secrets.Redact(words), maxStderrLine))
}

// last returns the last lines, joined into one.
func (s *stderrLog) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(s.tail[:len(s.tail):len(s.tail)], s.clean(string(s.line))), " ")
}

// logJunk logs a line of standard output that is no message: some servers print a greeting there.
func (s *stderrLog) logJunk(line []byte) {
	_, _ = s.Write(append(line[:len(line):len(line)], '\n'))
}
