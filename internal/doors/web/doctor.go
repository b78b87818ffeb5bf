package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// doctorPage runs the doctor and shows its report.
func doctorPage() page {
	return page{name: "doctor", path: "/doctor", nav: true, live: []string{EventActiveCalls}, show: showDoctor, acts: map[string]act{"run": examine}}
}

// doctorPageData is the data of the page: the progress of the running examination, or the
// report of the session's last one.
type doctorPageData struct {
	Running     bool
	Done, Total int
	Said        []answer.Finding // state and title of each finished check
	Report      *answer.DoctorReport
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
		e.shown.Said = append(e.shown.Said, answer.Finding{State: answer.State(state), Title: title})
	}
	e.shown.Done, e.shown.Total = done, total
}

func (e *examination) end(report *answer.DoctorReport, fault *aai.Error) {
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
func (v *pageRequest) runDoctor() (*answer.DoctorReport, *aai.Error) {
	result, err := v.call("doctor", nil)
	if err != nil {
		return nil, aai.AsError(err)
	}
	report := new(answer.DoctorReport)
	if err := decodeData(result, report); err != nil {
		return nil, aai.Errorf(aai.Internal, "the answer of doctor cannot be read: %w", err)
	}
	return report, nil
}
