//go:build linux

package atspi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestShownPassword checks that a page that shows its password to the person does not reveal it to the
// gateway.
func TestShownPassword(t *testing.T) {
	const page = `<!doctype html><title>log in</title><label>Password <input id=p type=password value=sesame></label>
<button onclick="p.type = 'text'; this.textContent = 'Shown'">Show</button>`
	file := filepath.Join(t.TempDir(), "page.html")
	assert.NilError(t, os.WriteFile(file, []byte(page), 0o600))
	w := newWorld(t)
	app := w.app(t, w.Launch(t, "chromium", "--force-renderer-accessibility", "--no-sandbox", "--no-first-run", "--test-type", "--disable-gpu",
		"--disable-dev-shm-usage", "--password-store=basic", "--user-data-dir="+t.TempDir(), "--app=file://"+file))
	field := w.shows(t, app, desktop.Textbox, "Password")
	assert.Assert(t, field.States.Has(desktop.Protected), "the field is %+v", field)
	w.perform(t, app, w.shows(t, app, desktop.Button, "Show"), desktop.Act{Verb: desktop.Press})
	w.shows(t, app, desktop.Button, "Shown")
	again, err := w.bus.Read(t.Context(), app, field.ID)
	all := fmt.Sprintf("%+v %+v", w.snapshot(t, app), again)
	assert.Assert(t, !strings.Contains(all, "sesame"), "the password is told, or the field is not protected any more: %v\n%s", err, all)
	assert.NilError(t, err, all)
	assert.Assert(t, again.States.Has(desktop.Protected), "the password is told, or the field is not protected any more: %v\n%s", err, all)
}
