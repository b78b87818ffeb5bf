package builtin_test

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func TestAnAppThatIsNotThereWasNotReached(t *testing.T) {
	w := newWorld(t, apps())
	for tool, arguments := range map[string]string{
		builtin.Guide:      `{"app": "org.example.Nobody"}`,
		builtin.Descriptor: `{"app": "org.example.Nobody"}`,
	} {
		_, err := w.do(t, person(), aai.BuiltinApp, tool, arguments)
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s of an app that is not there: %#v; want %s, and %s", tool, err, aai.AppNotFound, aai.NotDelivered)
		assert.Equal(t, e.Code, aai.AppNotFound, "%s %#v", tool, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %#v", tool, err)
	}
}
