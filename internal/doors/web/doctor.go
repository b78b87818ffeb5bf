package web

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"aai"
)

// doctorPage has the doctor examine and shows what came of it.
func doctorPage() page {
	return page{name: "doctor", path: "/doctor", nav: true, live: []string{NewsRunning}, show: showDoctor, acts: map[string]act{"run": examine}}
}

// A doctorReport is what the tool "doctor" answers.
type doctorReport struct {
	State  string          `json:"state"`
	Checks []doctorFinding `json:"checks"`
	TookMS int             `json:"took_ms"`
}

// A doctorFinding is what came of one examination.
type doctorFinding struct {
	Check    string   `json:"check"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	Did      string   `json:"did"`
	Saw      string   `json:"saw"`
	Details  []string `json:"details"`
	TookMS   int      `json:"took_ms"`
	Advice   string   `json:"advice"`
	Commands []string `json:"commands"`
}

// doctorShown is what the page shows: how far an examination has come, or what the last one
// of this visitor found.
type doctorShown struct {
	Running     bool
	Done, Total int
	Said        []doctorFinding // of each examination that has ended, its state and title
	Report      *doctorReport
	Fault       *aai.Error
}

// An examination is the last one of a session. The zero value is none.
type examination struct {
	mu    sync.Mutex
	shown doctorShown
}

func (e *examination) now() doctorShown {
	e.mu.Lock()
	defer e.mu.Unlock()
	shown := e.shown
	shown.Said = slices.Clone(shown.Said)
	return shown
}

// begin reports whether one may begin: not while another one is under way.
func (e *examination) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown.Running {
		return false
	}
	e.shown = doctorShown{Running: true}
	return true
}

func (e *examination) heard(done, total int, said string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown.Running && done > e.shown.Done {
		said, _, _ = strings.Cut(said, "; ")
		state, title, _ := strings.Cut(said, ": ")
		e.shown.Said = append(e.shown.Said, doctorFinding{State: state, Title: title})
	}
	e.shown.Done, e.shown.Total = done, total
}

func (e *examination) end(report *doctorReport, fault *aai.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shown = doctorShown{Report: report, Fault: fault}
}

func showDoctor(v *visit) (any, error) { return v.session.examined.now(), nil }

// soon is how long the browser waits for an examination before it is shown how far it has
// come.
const soon = 700 * time.Millisecond

// examine begins an examination, unless one is under way. It goes on when the browser leaves,
// and ends with the door.
func examine(v *visit) (any, error) {
	e := &v.session.examined
	if !e.begin() {
		return nil, nil //nolint:nilnil // the page is shown again
	}
	apart := *v
	ended := v.door.outlasting.begin(v.ctx, func(ctx context.Context) {
		apart.ctx = aai.WithProgress(ctx, func(done, total float64, message string) {
			e.heard(int(done), int(total), message)
			apart.door.news.tell(NewsRunning)
		})
		e.end(apart.examined())
		apart.door.news.tell(NewsRunning)
	})
	select {
	case <-ended:
	case <-v.ctx.Done():
	case <-time.After(soon):
	}
	return nil, nil //nolint:nilnil // the page is shown again
}

// examined is what the call of the doctor came to.
func (v *visit) examined() (*doctorReport, *aai.Error) {
	result, err := v.call("doctor", nil)
	if err != nil {
		return nil, aai.AsError(err)
	}
	raw, err := json.Marshal(result.Data)
	report := new(doctorReport)
	if err == nil {
		err = json.Unmarshal(raw, report)
	}
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "the answer of doctor cannot be read: %w", err)
	}
	return report, nil
}
