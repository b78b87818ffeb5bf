package catalog

import (
	"context"
	"sync"

	"github.com/gybob/aai-gateway"
)

// A lateAction is the Action of a valid recipe, compiled at its first call: most tools are never called.
type lateAction struct {
	driver aai.Driver
	recipe *aai.Recipe
	once   sync.Once
	action aai.Action
	err    error
}

func (l *lateAction) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	l.once.Do(func() { l.action, l.err = l.driver.Compile(l.recipe) })
	if l.err != nil {
		return nil, l.err
	}
	return l.action(ctx, call)
}
