package workflow_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Revoking consent during a workflow stops its further steps, whatever the answer at its
// beginning; an earlier revocation has no effect on it.
func TestRevokedDuringRun(t *testing.T) {
	for _, choice := range []string{"once", "session", "always"} {
		for _, revoked := range []bool{false, true} {
			w, folder := newWorld(t), t.TempDir()
			revocations, store := policy.NewRevocations(folder+"/revoked"), policy.NewFileStore(folder+"/consent.json")
			assert.NilError(t, revocations.Revoke())
			w.answer = choice
			w.Gates[3] = policy.NewConsent(policy.ConsentConfig{Store: store, Revocations: revocations})
			get := w.apps[1].Tool("get")
			run := get.Run
			get.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
				if call.Args["name"] == "second" && revoked {
					_, err := store.Remove(func(policy.Grant) bool { return true })
					assert.Check(t, err)
					assert.Check(t, revocations.Revoke())
				}
				return run(ctx, call)
			}
			_, err := w.does(t,
				step("set", documentObject{"name": "{{item}}", "value": 1}, "for_each", []any{"a", "b"}),
				step("get", documentObject{"name": "{{item}}"}, "for_each", []any{"first", "second"}),
				step("set", documentObject{"name": "{{item}}", "value": 1}, "for_each", []any{"c", "d"}))
			e := aai.AsError(err)
			if w.kept["b"] == nil || revoked != (e != nil && e.Code == aai.ConsentRequired) || revoked != (w.kept["c"] == nil) || revoked != (w.kept["d"] == nil) || len(w.asked) != 1 {
				t.Errorf("%s, revoked %v: %v, kept %v, asked %d", choice, revoked, err, w.kept, len(w.asked))
			}
		}
	}
}
