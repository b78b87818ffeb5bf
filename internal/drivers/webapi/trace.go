package webapi

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
)

// trace records the progress of a request. It is conservative: a request with buffered headers may
// have left. A server cannot act on a request with incomplete headers.
type trace struct{ wrote, answered atomic.Bool }

// follow returns a context in which the trace observes the client, over all its connections for
// the request.
func (t *trace) follow(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders:         func() { t.wrote.Store(true) },
		GotFirstResponseByte: func() { t.answered.Store(true) },
	})
}

// delivery returns the known delivery of a failed request.
func (t *trace) delivery() aai.Delivery {
	switch {
	case t.answered.Load():
		return aai.Delivered
	case t.wrote.Load():
		return aai.DeliveryUnknown
	}
	return aai.NotDelivered
}

// laterDelivery combines the deliveries of two tries: if any of them was delivered, the call was.
func laterDelivery(a, b aai.Delivery) aai.Delivery {
	for _, d := range []aai.Delivery{aai.Delivered, aai.DeliveryUnknown} {
		if a == d || b == d {
			return d
		}
	}
	return aai.NotDelivered
}
