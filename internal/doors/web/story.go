package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// storyPage shows all records of one call.
func storyPage() page {
	return page{
		name: "story", path: "/history/{call}", live: []string{EventJournal}, show: showStory,
		acts: map[string]act{"forget": forgetAnswer, "undo": undoCall},
	}
}

// storyPageData is the template data of storyPage.
type storyPageData struct {
	answer.Trace

	Picture *keptScreenshot `json:"-"` // of the window after the call, if one is stored
	Undo    string          `json:"-"` // a description of its undo; "" where this session cannot
}

// Subject returns the tool of the call, and its target or app, for the page's title.
func (s storyPageData) Subject() string {
	return s.Call.Tool + " · " + cmp.Or(s.Call.Target, s.Call.App)
}

func showStory(v *pageRequest) (any, error) {
	var shown storyPageData
	if err := v.read("story", map[string]any{"call": v.pathValue("call")}, &shown); err != nil {
		return nil, err
	}
	if shown.Call.App == aai.DesktopApp && shown.Call.Effect != aai.Reads.String() {
		shown.Picture = v.screenshotOf(v.pathValue("call"))
	}
	shown.Undo = v.session.undoText(v.pathValue("call"))
	return shown, nil
}

// Asked returns the call's arguments as indented JSON.
func (s storyPageData) Asked() string { return indented(s.Call.Args) }

// Answered returns the call's answer as indented JSON, or "" if the journal does not store it.
func (s storyPageData) Answered() string {
	if len(s.Answer) > 0 {
		return indented(s.Answer)
	}
	return indented(s.Call.Answer)
}

// Delivery tells whether the app got the request of a failed call; "" if no record says so.
func (s storyPageData) Delivery() aai.Delivery {
	for _, step := range s.Steps {
		if step.Delivery != "" {
			return step.Delivery
		}
	}
	return ""
}

// Person returns the time for which the call waited for the person.
func (s storyPageData) Person() time.Duration {
	var asked float64
	for _, step := range s.Steps {
		asked += step.PersonWaitMillis
	}
	return time.Duration(asked * float64(time.Millisecond)).Round(time.Millisecond)
}

// Took returns the duration of the call in milliseconds, without the wait for the person.
func (s storyPageData) Took() float64 {
	return max(0, s.Call.Millis-float64(s.Person())/float64(time.Millisecond))
}

// Waited returns the time between the records of the receipt and of the intent, without the wait for
// the person: the call waited for other calls, for example. It is zero without both records.
func (s storyPageData) Waited() time.Duration {
	if len(s.Steps) < 2 || s.Steps[0].Kind != aai.Received || s.Steps[1].Kind != aai.Intent {
		return 0
	}
	return max(0, s.Steps[1].Time.Sub(s.Steps[0].Time)-s.Person()).Round(10 * time.Millisecond)
}

// indented formats a JSON value for people.
func indented(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// forgetAnswer deletes the stored answer, after a question to the person.
func forgetAnswer(v *pageRequest) (any, error) {
	if _, err := v.call("history_forget", map[string]any{"call": v.pathValue("call")}); err != nil {
		return nil, err
	}
	v.setNotice(v.text("story", "forgotten"))
	return nil, nil
}

// undoCall undoes a call that this session made.
func undoCall(v *pageRequest) (any, error) {
	id := v.pathValue("call")
	result, err := v.call("undo", map[string]any{"call": id})
	if err != nil {
		return nil, err
	}
	var back struct{ Undone int }
	if err := decodeData(result, &back); err != nil {
		return nil, err
	}
	if back.Undone > 0 {
		v.session.forgetUndo(id)
	}
	v.setNotice(aai.CleanText(result.Text, 1000))
	return nil, nil
}
