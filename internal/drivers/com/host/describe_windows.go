package host

import "github.com/gybob/aai-gateway/internal/drivers/com"

func (s *session) describe(r *com.Request) *com.Reply {
	return &com.Reply{Failure: &com.Failure{Message: "not yet"}}
}
