package aai

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// CleanLabel returns external text as one harmless line of at most max bytes, including the "…"
// that marks a cut; max is at least 3. See [sanitize.Label].
func CleanLabel(s string, max int) string { return sanitize.Label(s, max) }

// CleanText is CleanLabel for text of several lines: it keeps line breaks and tabs.
func CleanText(s string, max int) string { return sanitize.Text(s, max) }

// Count returns a number of things in words, with the plural of the noun where it is needed: "1 call", "2 calls".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// maxName is the number of bytes that messages show of a name chosen by a caller or an app.
const maxName = 200

// Sleep waits for the duration, or until the context ends; then it returns the context's error.
func Sleep(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// RetryRateLimited calls run, and again after each RATE_LIMITED error if nothing was done and
// RetryAfter is at most most. It ends with the context at the latest.
func RetryRateLimited(ctx context.Context, most time.Duration, run func(context.Context) (*Result, error)) (*Result, error) {
	for {
		result, err := run(ctx)
		e := AsError(err)
		if e == nil || e.Code != RateLimited || !e.RetrySafe() || e.RetryAfter <= 0 || e.RetryAfter > most {
			return result, err
		}
		if Sleep(ctx, e.RetryAfter) != nil {
			return nil, err
		}
	}
}

// WholeNumber returns a decoded JSON value as a whole number: 5, 5.0 and 5e0 are one. It accepts each
// type that decoders and checks give to numbers. ok is false for any other value.
func WholeNumber(value any) (n int, ok bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), int64(int(v)) == v
	case float64:
		// Beyond 2^53 a float64 no longer tells whole numbers apart.
		return int(v), v == math.Trunc(v) && math.Abs(v) <= 1<<53
	case json.Number:
		if whole, err := strconv.Atoi(string(v)); err == nil {
			return whole, true
		}
		if f, err := v.Float64(); err == nil {
			return WholeNumber(f)
		}
	}
	return 0, false
}

// ToJSONValue converts a value to its JSON form, with numbers as json.Number. It returns an error
// for values that JSON cannot represent.
func ToJSONValue(value any) (any, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}
