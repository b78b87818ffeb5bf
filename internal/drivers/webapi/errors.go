package webapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"

	"github.com/gybob/aai-gateway"
)

// requestFailure returns the failure of a request that got no complete response header.
func (x *exchange) requestFailure(ctx context.Context, cause error) *failure {
	cause = rootCause(cause)
	delivery := x.trace.delivery()
	if err := ctx.Err(); err != nil {
		return &failure{err: abortError(err, x.String(), delivery)}
	}
	if own, ok := errors.AsType[*aai.Error](cause); ok && delivery == aai.NotDelivered {
		// The client explains why it refuses the address, or withholds the reason on purpose.
		return &failure{err: undelivered(own), retryable: isTransient(cause)}
	}
	if err := contextEnded(ctx, cause); err != nil {
		return &failure{err: abortError(err, x.String(), delivery)}
	}
	var err *aai.Error
	again := false
	switch {
	case delivery == aai.Delivered:
		err = aai.Errorf(aai.APIRequestFailed, "%s: the server's answer cannot be read", x.tool)
		err.Hint = "The server got the request. Look at its state before you try again."
	case delivery == aai.DeliveryUnknown:
		err = aai.Errorf(aai.APIRequestFailed, "%s: the connection was lost before the server answered", x.tool)
		err.Hint = "The server may have got the request. Look at its state before you try again."
		again = true
	case isUntrusted(cause):
		err = aai.Errorf(aai.APIRequestFailed, "%s: the server's certificate does not prove that it is %s", x.tool,
			x.address.origin)
		err.Hint = "Nothing was sent. The certificate is wrong or expired, or the connection is intercepted. Ask the " +
			"person before you continue."
	default:
		err = aai.Errorf(aai.AppNotRunning, "%s: the server cannot be reached", x.tool)
		err.Hint = "Nothing was sent. Check the network and that the site is up, then try again."
		again = isTransient(cause)
	}
	err.Err, err.Delivery = cause, delivery
	return &failure{err: err, retryable: again}
}

// contextEnded returns the reason why the call or the client stopped waiting, or nil.
func contextEnded(ctx context.Context, cause error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timeout, ok := errors.AsType[net.Error](cause)
	if errors.Is(cause, context.DeadlineExceeded) || ok && timeout.Timeout() {
		return context.DeadlineExceeded
	}
	return nil
}

// abortError returns the error of a call that timed out or was cancelled.
func abortError(cause error, what string, delivery aai.Delivery) *aai.Error {
	err := aai.Errorf(aai.Timeout, "%s: there was no answer by the deadline", what)
	if delivery == aai.Delivered {
		err = aai.Errorf(aai.Timeout, "%s: the answer was incomplete at the deadline", what)
	}
	err.Hint = "The server may be slow or busy. Look at its state before you try again."
	if errors.Is(cause, context.Canceled) {
		err = aai.Errorf(aai.AutomationFailed, "%s: the caller cancelled the call", what)
	}
	err.Err, err.Delivery = cause, delivery
	return err
}

// isUntrusted reports whether the certificate check of the server failed.
func isUntrusted(cause error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		return true
	}
	_, authority := errors.AsType[x509.UnknownAuthorityError](cause)
	_, host := errors.AsType[x509.HostnameError](cause)
	_, invalid := errors.AsType[x509.CertificateInvalidError](cause)
	return authority || host || invalid
}

// isTransient reports whether a later connection may succeed because the operating system refused
// or lost this one. Refusals by the gateway and unknown host names are permanent.
func isTransient(cause error) bool {
	_, system := errors.AsType[*os.SyscallError](cause)
	dns, lookup := errors.AsType[*net.DNSError](cause)
	return system || lookup && dns.IsTemporary || errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)
}
