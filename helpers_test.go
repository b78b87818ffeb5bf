package aai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestWholeNumber(t *testing.T) {
	for _, value := range []any{5, int64(5), 5.0, json.Number("5"), json.Number("5.0"), json.Number("5e0")} {
		t.Run(fmt.Sprintf("%T %v", value, value), func(t *testing.T) {
			n, ok := aai.WholeNumber(value)
			assert.Check(t, is.Equal(n, 5), "%t", ok)
			assert.Check(t, ok, "got %d, %t; want 5, true", n, ok)
		})
	}
	for _, value := range []any{nil, "5", true, 5.5, 1e300, json.Number("5.5"), json.Number("1e300"), json.Number("x")} {
		t.Run(fmt.Sprintf("%T %v", value, value), func(t *testing.T) {
			n, ok := aai.WholeNumber(value)
			assert.Check(t, !ok, "got %d; want none", n)
		})
	}
}
