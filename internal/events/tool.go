package events

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// connectTime limits a call that begins to record.
const connectTime = 10 * time.Second

// A Feed are the events of an app.
type Feed struct {
	App         string          // its id
	Description string          // which events it has, for agents
	Key         func() string   // identifies the source, so that a later Feed continues its log
	Source      aai.EventSource // nil: the tool cannot be called
	Types       []string        // of its events, besides those of every app; nil: unknown
	From        string          // the untrusted source of the events; "": none
}

// Tool returns the tool of the app that reads its events.
func (s *Recorders) Tool(f Feed) *aai.Tool {
	types := f.Types
	if len(types) > 0 {
		types = append(slices.Clone(types), Lost, Ended, Started)
	}
	tool := &aai.Tool{
		Name: aai.EventsTool, Title: "Events", Description: f.Description,
		Params:  schema.MustParse(`{"type": "object", "additionalProperties": false, "properties": {` + ViewParams(types...) + `}}`),
		Returns: aai.Schema{Source: json.RawMessage(`{"type": "object", "properties": {` + ViewSchema + `}}`)}, Effect: aai.Reads,
		Assess: aai.Always(aai.Assessment{EffectInherent: true, Concurrency: aai.Independent}), Limits: aai.Limits{Timeout: CallTimeout},
	}
	if f.Source == nil {
		return tool
	}
	tool.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		connecting, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		r := s.recorder(connecting, f.Key(), f.Source)
		view, text := ViewOf(ctx, &r.log, r.listen, call, View{App: f.App, Since: r.begun, Updates: r.updates()})
		return &aai.Result{Text: text, Data: view, DataComplete: true, UntrustedSource: f.From}, nil
	}
	tool.Implementation.Watch = func(_ map[string]any, changed func()) (stop func(), err error) {
		ctx, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		return s.recorder(ctx, f.Key(), f.Source).listen(changed), nil // a source without a connection now may get one
	}
	return tool
}

// Watch calls changed, which must not block, after each event of a source, until stop. It fails if the source cannot be
// connected. The key identifies the source.
func (s *Recorders) Watch(key string, source aai.EventSource, changed func()) (stop func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	r := s.recorder(ctx, key, source)
	stop = r.listen(changed)
	if updates := r.updates(); updates != ByEvents {
		stop()
		s.discard(key, r)
		return nil, aai.Errorf(aai.AutomationNotSupported, "changes are not reported: %s", updates)
	}
	return stop, nil
}
