package netguard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/gybob/aai-gateway"
)

// The reasons for rejecting a request before name resolution.
var (
	errUserinfo  = errors.New("the address has a user or a password")
	errNotHTTPS  = errors.New("only https is allowed")
	errOtherHost = errors.New("the Host header is not the address's host")
)

// A failureKind is the kind of a failure.
type failureKind int

const (
	badResponse    failureKind = iota // the server sent an invalid answer
	refusedByGuard                    // the guard rejected the request
	tlsFailure                        // TLS could not verify the server
	networkFailure                    // no answer, or a broken connection
)

// A failureCause is the actual cause, for the log.
type failureCause struct {
	kind  failureKind
	cause error
}

func (f *failureCause) Error() string { return f.cause.Error() }
func (f *failureCause) Unwrap() error { return f.cause }

// IsNetworkError reports whether an error of this package is a network failure: a name not found,
// a failed or broken connection, a timeout. A rejection by the guard or TLS is none, nor is an
// invalid answer.
func IsNetworkError(err error) bool {
	f, ok := errors.AsType[*failureCause](err)
	return ok && f.kind == networkFailure
}

// IsTLSError reports whether TLS could not verify the server.
func IsTLSError(err error) bool {
	f, ok := errors.AsType[*failureCause](err)
	return ok && f.kind == tlsFailure
}

// unreachable returns the same error text for all failures to reach a host. Details would let an
// agent scan the person's network.
func unreachable(h Host, cause *failureCause, sent bool) *aai.Error {
	name := h.String()
	if h.name == "" {
		name = "the address"
	}
	e := aai.Errorf(aai.AppNotRunning, "%s could not be reached", name)
	e.Hint = "Check the address. A site on a private network must first be trusted by the person, with net.allowPrivate " +
		"in the " +
		"configuration; for a site that redirects to another, use the address of that one. The gateway's log has the cause."
	e.Err = cause
	e.Delivery = aai.NotDelivered
	if sent {
		e.Delivery = aai.DeliveryUnknown
	}
	return e
}

// classify returns the kind of a transport's error. An unknown error is no network failure.
func classify(err error) *failureCause {
	if f, ok := errors.AsType[*failureCause](err); ok {
		return f
	}
	f := &failureCause{cause: err}
	switch {
	case isRefusal(err):
		f.kind = refusedByGuard
	case isUnsafe(err):
		f.kind = tlsFailure
	case isNetwork(err):
		f.kind = networkFailure
	}
	return f
}

func isRefusal(err error) bool {
	for _, known := range []error{errMetadataAddress, ssrf.ErrProhibitedIP, ssrf.ErrProhibitedPort,
		ssrf.ErrProhibitedNetwork, ssrf.ErrInvalidHostPort} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func isUnsafe(err error) bool {
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return true
	}
	if _, is := errors.AsType[tls.RecordHeaderError](err); is {
		return true
	}
	if _, is := errors.AsType[tls.AlertError](err); is {
		return true
	}
	if _, is := errors.AsType[x509.HostnameError](err); is {
		return true
	}
	_, is := errors.AsType[*tls.ECHRejectionError](err)
	return is
}

func isNetwork(err error) bool {
	if _, is := errors.AsType[*net.OpError](err); is {
		return true
	}
	if _, is := errors.AsType[*net.DNSError](err); is {
		return true
	}
	if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
		return true
	}
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// wait waits for the duration, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
