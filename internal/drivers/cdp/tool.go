package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// tool returns the tool of a definition at an origin.
func (p *Pages) tool(origin string, d definition) *aai.Tool {
	digest := d.digest(origin)
	return &aai.Tool{
		Name: d.Name, Description: aai.CleanText(d.Description, maxText), Params: d.params.Schema,
		// A page's claim that a tool reads only is not believed.
		Effect: aai.Destroys, Privacy: aai.Privacy{Secret: d.params.SecretNames}, Limits: aai.Limits{Timeout: p.timeout},
		Implementation: aai.Implementation{
			Summary: "a tool of the open page " + origin + ": " + d.Name,
			Digest:  func() string { return digest },
		},
		Run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return p.call(ctx, call, origin, d.Name, digest)
		},
	}
}

// call calls a tool of the page that was opened last of those with the origin.
func (p *Pages) call(ctx context.Context, call *aai.Call, origin, name, digest string) (*aai.Result, error) {
	for _, one := range p.connected(ctx) {
		open, d := one.find(origin, name)
		if open == nil {
			continue
		}
		// The page may have gone elsewhere since its last event.
		if err := one.readFrames(ctx, open); err != nil {
			return nil, undelivered(aai.AutomationFailed, "Look for the page in the browser.", "the page of %s does not answer: %w", origin, err)
		}
		if open, d = one.find(origin, name); open == nil {
			break
		}
		if d.digest(origin) != digest {
			return nil, undelivered(aai.ConsentRequired, "Read its guide again, and repeat the call: the person is asked about the changed tool.",
				"the page of %s has changed its tool %s since it was allowed", origin, name)
		}
		r, err := one.run(ctx, open, d, call.Args)
		if err != nil {
			return nil, callError(err, origin)
		}
		return result(r, origin)
	}
	return nil, undelivered(aai.ToolNotFound, "Open the page in the connected browser.",
		"no open page of %s has the tool %s any more", origin, name)
}

// callError converts the error of a call that may have reached the page.
func callError(err error, origin string) error {
	if e, ok := errors.AsType[*aai.Error](err); ok && e.Delivery == aai.NotDelivered {
		return e
	}
	if e, ok := errors.AsType[*aai.Error](err); ok {
		e.Delivery = aai.DeliveryUnknown
		return e
	}
	e := aai.Errorf(aai.AutomationFailed, "the page of %s did not finish the call: %w", origin, err)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the page before trying again."
	return e
}

// result converts the end of a call.
func result(r response, origin string) (*aai.Result, error) {
	if r.Status == statusLeft {
		return nil, callError(errors.New("the browser has left the page meanwhile"), origin)
	}
	if r.Status != "Completed" {
		words := aai.CleanText(strings.TrimSpace(r.ErrorText+"\n"+r.Exception.Description), maxText)
		e := aai.Errorf(aai.AutomationFailed, "the tool of the page of %s ended with %s", origin, strings.ToLower(aai.CleanLabel(r.Status, 20)))
		e.Delivery, e.Hint = aai.Delivered, "Look at the page before trying again."
		e.Data = map[string]any{"page_says": words}
		return nil, e
	}
	out := &aai.Result{UntrustedSource: "the page of " + origin}
	var data any
	if len(r.Output) > 0 && json.Unmarshal(r.Output, &data) != nil {
		return nil, &aai.Error{Code: aai.AutomationFailed, Message: "the page's answer is not JSON", Delivery: aai.Delivered}
	}
	data = sanitize.MapTexts(data, func(text string) string { return aai.CleanText(text, maxAnswer) })
	if texts, ok := contentTexts(data); ok {
		out.Text = strings.Join(texts, "\n")
	} else if text, ok := data.(string); ok {
		out.Text = text
	} else {
		out.Data = data
	}
	return out, nil
}

// contentTexts returns the texts of an answer in the form of MCP, {"content": [{"type": "text", "text": "…"}]}.
func contentTexts(data any) (texts []string, ok bool) {
	object, _ := data.(map[string]any)
	blocks, isList := object["content"].([]any)
	if !isList || len(object) != 1 {
		return nil, false
	}
	for _, block := range blocks {
		b, _ := block.(map[string]any)
		text, isText := b["text"].(string)
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

func undelivered(code aai.Code, hint, format string, args ...any) *aai.Error {
	e := aai.Errorf(code, format, args...)
	e.Delivery, e.Hint = aai.NotDelivered, hint
	return e
}
