package web

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// doctorPage runs the doctor and shows its report.
func doctorPage() page {
	return page{name: "doctor", path: "/doctor", nav: true, live: []string{EventActiveCalls}, show: showDoctor, acts: map[string]act{"run": examine}}
}

// A doctorReport is the answer of the tool "doctor".
type doctorReport struct {
	State  string          `json:"state"`
	Checks []doctorFinding `json:"checks"`
	TookMS int             `json:"took_ms"`
}

// A doctorFinding is the result of one check.
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

// doctorPageData is the data of the page: the progress of the running examination, or the
// report of the session's last one.
type doctorPageData struct {
	Running     bool
	Done, Total int
	Said        []doctorFinding // state and title of each finished check
	Report      *doctorReport
	Fault       *aai.Error
}

// An examination is the doctor's latest run in a session, active or finished; zero means none.
type examination struct {
	mu    sync.Mutex
	shown doctorPageData
}

func (e *examination) now() doctorPageData {
	e.mu.Lock()
	defer e.mu.Unlock()
	shown := e.shown
	shown.Said = slices.Clone(shown.Said)
	return shown
}

// begin reports whether a new examination may begin: not while another one runs.
func (e *examination) begin() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown.Running {
		return false
	}
	e.shown = doctorPageData{Running: true}
	return true
}

func (e *examination) setProgress(done, total int, said string) {
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
	e.shown = doctorPageData{Report: report, Fault: fault}
}

func showDoctor(v *pageRequest) (any, error) { return v.session.examined.now(), nil }

// examinationWait is the time that the browser waits for an examination before the page
// shows its progress.
const examinationWait = 700 * time.Millisecond

// examine begins an examination, unless one is running. It continues when the browser
// leaves, and ends with the door.
func examine(v *pageRequest) (any, error) {
	e := &v.session.examined
	if !e.begin() {
		return nil, nil //nolint:nilnil // the page is shown again
	}
	apart := *v
	ended := v.door.background.begin(v.ctx, func(ctx context.Context) {
		apart.ctx = gateway.WithProgress(ctx, func(done, total float64, message string) {
			e.setProgress(int(done), int(total), message)
			apart.door.events.publish(EventActiveCalls)
		})
		e.end(apart.runDoctor())
		apart.door.events.publish(EventActiveCalls)
	})
	select {
	case <-ended:
	case <-v.ctx.Done():
	case <-time.After(examinationWait):
	}
	return nil, nil //nolint:nilnil // the page is shown again
}

// runDoctor calls the doctor.
func (v *pageRequest) runDoctor() (*doctorReport, *aai.Error) {
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
