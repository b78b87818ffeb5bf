package linuxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Macro is a tool bar button and its statements in LibreOffice Basic, one per line. Say "word" sets the
// text to the word.
type Macro struct{ Button, Basic string }

// Writer opens a text of one paragraph in LibreOffice, with a separate profile and a tool bar of the
// macros. The window's process is a child of the App's.
func (s *Session) Writer(t testing.TB, paragraph string, macros ...Macro) *App {
	t.Helper()
	var basic, bar strings.Builder
	for _, m := range macros {
		fmt.Fprintf(&basic, "Sub On%s\n%s\nEnd Sub\n", m.Button, strings.ReplaceAll(m.Basic, "<", "&lt;"))
		fmt.Fprintf(&bar, `<toolbar:toolbaritem xlink:href="vnd.sun.star.script:Standard.M.On%[1]s?language=Basic&amp;location=document" toolbar:text="%[1]s"/>`, m.Button)
	}
	profile := s.Path("tmp", "libreoffice")
	file := filepath.Join(s.Home, "text.fodt")
	for name, text := range map[string]string{
		file: `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" xmlns:ooo="http://openoffice.org/2004/office" xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:scripts><office:script script:language="ooo:Basic"><ooo:libraries><ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>
Sub Say(word)
ThisComponent.Text.String = word
End Sub
` + basic.String() + `</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script></office:scripts><office:body><office:text><text:p>` + paragraph + `</text:p></office:text></office:body></office:document>`,
		filepath.Join(profile, "user", "config", "soffice.cfg", "modules", "swriter", "toolbar", "custom_toolbar_1.xml"): `<?xml version="1.0" encoding="UTF-8"?>
<toolbar:toolbar xmlns:toolbar="http://openoffice.org/2001/toolbar" xmlns:xlink="http://www.w3.org/1999/xlink" toolbar:id="toolbar" toolbar:uiname="Macros">` + bar.String() + `</toolbar:toolbar>`,
		// LibreOffice runs the document's macros without asking.
		filepath.Join(profile, "user", "registrymodifications.xcu"): `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>0</value></prop></item></oor:items>`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := s.LaunchEnv(t, []string{"SAL_USE_VCLPLUGIN=gtk3"}, "soffice", "--norestore", "--nologo", "--nofirststartwizard",
		"-env:UserInstallation=file://"+profile, file)
	app.await(t, "its window is up", func() bool { return strings.Contains(s.ActiveWindow(t), "LibreOffice Writer") })
	return app
}
