package policy

import (
	"context"
	"testing"

	"aai"
)

func TestAppLists(t *testing.T) {
	mail := &aai.App{ID: "org.example.Mail", Name: "Mail|邮件", Aliases: []string{"post"}}
	vault := &aai.App{ID: "desktop/keepassxc", Name: "KeePassXC", PID: 7}
	web := &aai.App{ID: "example.com/org.example.Shop", Name: "Shop"}
	screen := &aai.App{ID: aai.DesktopApp, Name: "Desktop", Targets: func(context.Context, *aai.Call, string) (*aai.App, error) { return nil, nil }}
	own := &aai.App{ID: aai.OwnApp}
	tests := []struct {
		allowed, denied []string
		blocked         []*aai.App
	}{
		{nil, nil, nil},
		{nil, []string{"org.example.mail"}, []*aai.App{mail, screen}},
		{nil, []string{"Mail"}, []*aai.App{mail, screen}},
		{nil, []string{"邮件"}, []*aai.App{mail, screen}},
		{nil, []string{"POST"}, []*aai.App{mail, screen}},
		{nil, []string{"org.example.*"}, []*aai.App{mail, web, screen}},
		{nil, []string{"KeePass*"}, []*aai.App{vault, screen}},
		{nil, []string{"desktop/keepassxc"}, []*aai.App{vault, screen}},
		{nil, []string{"*.com"}, []*aai.App{web, screen}},
		{[]string{"example.com"}, nil, []*aai.App{mail, vault, screen}},
		{[]string{"mail", "desktop"}, nil, []*aai.App{vault, web}},
		{[]string{"*"}, []string{"mail"}, []*aai.App{mail, screen}},
		{[]string{"mai"}, nil, []*aai.App{mail, vault, web, screen}},
		{[]string{"mail"}, []string{"mail"}, []*aai.App{mail, vault, web, screen}},
	}
	for _, test := range tests {
		gate, err := NewAppLists(test.allowed, test.denied)
		if err != nil {
			t.Fatal(err)
		}
		blocked := make(map[*aai.App]bool)
		for _, app := range test.blocked {
			blocked[app] = true
		}
		for _, app := range []*aai.App{mail, vault, web, screen, own} {
			r := toolOf(app, aai.Tool{Name: "t", Effect: aai.Reads, Target: "app", Params: aai.Schema{Order: []string{"app"}}})
			_, err := gate.Check(t.Context(), r)
			if blocked[app] != (err != nil) {
				t.Errorf("allowed %q, denied %q: %s: %v", test.allowed, test.denied, app.ID, err)
			}
			if e := aai.AsError(err); e != nil && (e.Code != aai.PermissionDenied || e.Hint == "") {
				t.Errorf("%v", e)
			}
		}
		// A tool that is about no window, such as the list of programs.
		if _, err := gate.Check(t.Context(), toolOf(screen, aai.Tool{Name: "t", Effect: aai.Reads, Target: "app"})); err != nil {
			t.Errorf("allowed %q, denied %q: %v", test.allowed, test.denied, err)
		}
	}
	for _, bad := range []string{"", " ", "[a"} {
		if _, err := NewAppLists([]string{bad}, nil); err == nil {
			t.Errorf("%q passes for a pattern", bad)
		}
	}
}
