package aai_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A caller may ask for an app by any of its names and by nothing else.
func TestAppNamed(t *testing.T) {
	app := &aai.App{ID: "org.example.Mail_1", Name: "Mail|邮件", Aliases: []string{"post"}}
	for name, want := range map[string]bool{
		"org.example.Mail_1": true, "ORG.example.mail_1": true, "app:org.example.Mail_1": true, app.WireName(): true,
		"mail": true, "邮件": true, "Post": true,
		"": false, "Mail|邮件": false, "org.example.Mail": false, "app:mail": false, "app_org_example_Mail_1": false,
	} {
		assert.Check(t, is.Equal(app.HasName(name), want), "%q %v", name, !want)
	}
	assert.Check(t, !new(aai.App).HasName(""), "nothing is a name")
}
