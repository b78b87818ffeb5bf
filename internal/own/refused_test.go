package own_test

import (
	"errors"
	"testing"

	"aai"
	"aai/internal/own"
)

func TestAnAppThatIsNotThereWasNotReached(t *testing.T) {
	w := newWorld(t, apps())
	for tool, arguments := range map[string]string{
		own.Guide:      `{"app": "org.example.Nobody"}`,
		own.Descriptor: `{"app": "org.example.Nobody"}`,
	} {
		_, err := w.do(t, person(), aai.OwnApp, tool, arguments)
		e, ok := errors.AsType[*aai.Error](err)
		if !ok || e.Code != aai.AppNotFound || e.Delivery != aai.NotDelivered {
			t.Errorf("%s of an app that is not there: %#v; want %s, and %s", tool, err, aai.AppNotFound, aai.NotDelivered)
		}
	}
}
