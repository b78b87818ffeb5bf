package search_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestNamesComeFirst checks that a request with the name of a tool or an app finds that one, also
// in an app with very many tools; for an untrusted name only if it is unambiguous.
func TestNamesComeFirst(t *testing.T) {
	things := named("org.example.Things", "Things|Dinge", "")
	for i := range 1000 {
		things.Tools = append(things.Tools, tool(fmt.Sprintf("read_thing_%d", i), "Read a thing"))
	}
	reader := named("org.example.Reader", "Thing Reader", "Reads a thing, any thing: thing 777 too", tool("open", "Read thing 777, and read it again"), tool("read", "Read things"))
	mail := named("org.example.Mail", "Mail", "Mail", tool("compose", "Write and send a mail to somebody"))
	site := named("mail.example.com", "Mailer", "", tool("send_a_mail", "Send"), tool("other", ""))
	site.Site.Origin = "https://mail.example.com"
	apps := []*aai.App{things, reader, mail, site}
	s := newSearch(t, &apps, nil)
	for _, c := range []struct{ words, app, want string }{
		{"read thing 777", "", "org.example.Things:read_thing_777"},
		{"Please read_thing_777.", "", "org.example.Things:read_thing_777"},
		{"a thing: readThing 3, read it", "", "org.example.Things:read_thing_3"},
		{"read thing 777", "org.example.Reader", "org.example.Reader:read"},
		{"read thing 1777", "org.example.Reader", "org.example.Reader:read"},
		{"open", "", "org.example.Reader:open"},
		{"read a thing with the thing reader", "", "org.example.Reader:read"},
		{"org.example.Things read", "", "org.example.Things:read_thing_0"},
		{"dinge", "", "org.example.Things:read_thing_0"},
		{"send a mail", "", "org.example.Mail:compose"},
		{"send_a_mail", "", "mail.example.com:send_a_mail"},
	} {
		got := find(t, s, agent(), c.words, c.app)
		assert.Assert(t, len(got) != 0, "%s: %.300q, expected %s first", c.words, got, c.want)
		assert.Equal(t, got[0], c.want, "%s %.300q", c.words, got)
	}
}
