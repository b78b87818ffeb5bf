package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// checkPrivate returns an error if other accounts have access to a file; a lock has no content.
func checkPrivate(path string, _ fs.FileInfo) error {
	if strings.HasSuffix(path, ".lock") {
		return nil
	}
	return atomicfile.CheckPrivate(path)
}

// TestAccessLists checks which access lists make a file private.
func TestAccessLists(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	assert.NilError(t, err)
	own := "(A;;FA;;;" + user.User.Sid.String() + ")"
	for list, want := range map[string]string{
		own:                              "",
		own + "(A;;FA;;;SY)(A;;FA;;;BA)": "",
		own + "(A;;FR;;;WD)":             "has access to it; expected only this account",
	} {
		path := filepath.Join(t.TempDir(), "secret")
		assert.NilError(t, os.WriteFile(path, []byte("1"), 0o600))
		assert.NilError(t, atomicfile.SetAccess(path, "D:P"+list))
		_, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: 10, Private: true})
		if want == "" {
			assert.Check(t, err, list)
			continue
		}
		assert.Check(t, err != nil, list)
		assert.Check(t, is.ErrorContains(atomicfile.CheckPrivate(path), want))
	}
}

// TestPrivateFolders checks that what is made in a private folder is private too.
func TestPrivateFolders(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	assert.NilError(t, atomicfile.MkdirPrivate(folder))
	assert.Check(t, atomicfile.CheckPrivate(folder))
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		t.Skip("on Wine new files do not take the access list of their folder")
	}
	assert.NilError(t, os.Mkdir(filepath.Join(folder, "c"), 0o777))
	assert.Check(t, atomicfile.CheckPrivate(filepath.Join(folder, "c")))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "c", "f"), nil, 0o666))
	assert.Check(t, atomicfile.CheckPrivate(filepath.Join(folder, "c", "f")))
}

// TestModifyKeepsAccess checks that a file that is shared with others stays so.
func TestModifyKeepsAccess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared")
	assert.NilError(t, os.WriteFile(path, []byte("1"), 0o600))
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	assert.NilError(t, err)
	assert.NilError(t, atomicfile.SetAccess(path, "D:P(A;;FA;;;"+user.User.Sid.String()+")(A;;FR;;;WD)"))
	assert.NilError(t, atomicfile.Modify(path, []byte("2")))
	assert.Check(t, atomicfile.CheckPrivate(path) != nil)
}
