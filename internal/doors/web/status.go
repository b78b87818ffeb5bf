package web

import (
	"net/http"

	"github.com/gybob/aai-gateway"
)

// statusOf returns the HTTP status of an error.
func statusOf(e *aai.Error) int {
	switch e.Code {
	case aai.AppNotFound, aai.ToolNotFound:
		return http.StatusNotFound
	case aai.PermissionDenied, aai.ConsentRequired:
		return http.StatusForbidden
	case aai.InvalidParams:
		return http.StatusBadRequest
	case aai.RateLimited:
		return http.StatusTooManyRequests
	case aai.Timeout:
		return http.StatusGatewayTimeout
	case aai.RecordFailed:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
