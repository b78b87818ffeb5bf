// Package fakeoperator has an operator of functions for tests.
package fakeoperator

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// Operator implements aai.Operator by its functions; a nil function finds nothing. A call
// without a program targets the app itself.
type Operator struct {
	Find    func(ctx context.Context, call *aai.Call, name string) (*aai.App, error)
	Resolve func(ctx context.Context, call *aai.Call) aai.TargetElement
	Runs    func(ctx context.Context, call *aai.Call) bool
}

// FindTarget implements aai.Operator.
func (o Operator) FindTarget(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
	if o.Find == nil || name == "" {
		return nil, nil
	}
	return o.Find(ctx, call, name)
}

// ResolveTarget implements aai.Operator.
func (o Operator) ResolveTarget(ctx context.Context, call *aai.Call) aai.TargetElement {
	if o.Resolve == nil {
		return aai.TargetElement{}
	}
	return o.Resolve(ctx, call)
}

// RunsCommand implements aai.Operator.
func (o Operator) RunsCommand(ctx context.Context, call *aai.Call) bool {
	return o.Runs != nil && o.Runs(ctx, call)
}
