package webapi

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
)

// A trace sees how far a request has come. It only ever errs on the careful side:
// a request whose headers were written into a buffer may have gone out. One whose
// headers were not written to their end is none that a server can act on.
type trace struct{ wrote, answered atomic.Bool }

// follow returns a context in which the trace sees what the client does. The
// client may do it on several connections, one after the other.
func (t *trace) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders:         func() { t.wrote.Store(true) },
		GotFirstResponseByte: func() { t.answered.Store(true) },
	})
}

// delivery is what is known of a request that failed.
func (t *trace) delivery() aai.Delivery {
	switch {
	case t.answered.Load():
		return aai.Delivered
	case t.wrote.Load():
		return aai.DeliveryUnknown
	}
	return aai.NotDelivered
}

// laterDelivery is the delivery of a call whose tries ended in both ways: if any of them
// was delivered, the call was.
func laterDelivery(a, b aai.Delivery) aai.Delivery {
	for _, d := range []aai.Delivery{aai.Delivered, aai.DeliveryUnknown} {
		if a == d || b == d {
			return d
		}
	}
	return aai.NotDelivered
}
