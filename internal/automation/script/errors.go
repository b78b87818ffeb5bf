package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script/child"
)

// error returns an error of the script that lists its mutations.
func (r *run) error(code aai.Code, message, hint string, cause error) error {
	if done := r.mutations.describe(); done != "" {
		message += "; " + done
	}
	return &aai.Error{Code: code, Message: message, Hint: hint, Delivery: r.mutations.delivery(), Err: cause}
}

// ended returns the error of a script that was ended early for the reason why.
func (r *run) ended(ctx context.Context, why endReason) error {
	switch why {
	case endTimeout:
		return r.error(aai.Timeout, fmt.Sprintf("the script had not ended after %s, at its call %d", r.args.timeout, r.calls),
			"Split the script, or raise timeout_ms.", nil)
	case endMemory:
		return r.tooBig(nil)
	case endTooManyCalls:
		return r.error(aai.RateLimited, fmt.Sprintf("the script made more than %d calls", maxCalls), "Split the script.", nil)
	case endQuestion:
		open := *r.open
		open.Delivery = aai.NotDelivered
		return &open
	case endCanceled:
		e := aai.AsError(cmp.Or(ctx.Err(), context.Canceled))
		return r.error(e.Code, "the script was stopped: "+e.Message, "", e.Err)
	}
	return r.error(aai.Internal, "the script's process sent an invalid message", "", nil)
}

func (r *run) tooBig(cause error) error {
	return r.error(aai.AutomationFailed, fmt.Sprintf("the script used more than its limit of %d MB of memory",
		child.MaxMemory>>20), "Keep less in memory.", cause)
}

// processError returns the error of a process that ended without a result.
func (r *run) processError(p *scriptProcess) error {
	said := string(p.stderr.text)
	cause := errors.New(p.State().String() + "\n" + said)
	if strings.Contains(said, "stack exceeds") {
		return r.error(aai.AutomationFailed, "the script, or a value in it, is nested too deeply",
			"Nest its expressions and values less.", cause)
	}
	for _, word := range []string{"out of memory", "cannot allocate", "makeslice", "too large",
		"negative count", "overflow"} {
		if strings.Contains(said, word) {
			return r.tooBig(cause)
		}
	}
	if killed(p.State()) {
		return r.error(aai.Timeout, fmt.Sprintf("the script used its limit of %d seconds of processor time",
			r.args.seconds()), "Split the script.", cause)
	}
	return r.error(aai.Internal, "the script's process ended without an error message", "", cause)
}

// failed returns the error of a script that has a syntax error or threw a value.
func (r *run) failed(f *child.Failure) error {
	at := ""
	if f.Line > 0 {
		at = fmt.Sprintf("line %d", f.Line)
		if f.Syntax {
			at += fmt.Sprintf(", column %d", f.Column)
		}
		at += ": "
	}
	words := aai.CleanText(f.Message, 2000)
	if f.Syntax {
		return notBegunError(aai.ScriptParseError, at+words, "")
	}
	if f.Code != "" {
		words = aai.CleanLabel(f.Code, 60) + ": " + words
	}
	return r.error(aai.AutomationFailed, at+words, aai.CleanText(f.Hint, 500), nil)
}
