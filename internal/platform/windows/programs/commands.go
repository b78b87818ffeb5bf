package programs

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/process"
)

// runsCommands reports whether the program with the file name runs commands or files from its arguments.
func runsCommands(file string) bool {
	name := strings.ToLower(file)
	name = name[strings.LastIndexAny(name, `\/`)+1:]
	switch ending := extension(name); ending {
	case ".exe", ".com":
		name = strings.TrimSuffix(name, ending)
	case "":
	default:
		return true // a script, or a file that another program opens
	}
	return process.IsInterpreter(name) || slices.Contains(strings.Fields(
		`cmd command powershell powershell_ise pwsh wt conhost openconsole wscript cscript mshta rundll32 regsvr32 msiexec msbuild installutil regasm regsvcs
		start explorer hh control mmc runas schtasks at sc wmic forfiles pcalua ftp bitsadmin certutil cmstp odbcconf presentationhost xwizard bash wsl wslg
		ubuntu debian msys2 mintty git sh busybox npm npx pnpm yarn uv uvx pipx pip py pyw pythonw rscript r julia dotnet csi fsi cargo go make cmake nmake
		ssh scp psexec sudo gsudo docker podman winget choco scoop reg regedit diskpart net netsh mofcomp winrm winrs devenv code cursor`), name)
}

// isScript reports whether the command processor runs the file.
func isScript(file string) bool { return slices.Contains([]string{".bat", ".cmd"}, extension(file)) }

// extension returns the file's ending in lower case, with its dot.
func extension(file string) string {
	name := file[strings.LastIndexAny(file, `\/`)+1:]
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return strings.ToLower(name[i:])
	}
	return ""
}

// isSafeForScript reports whether the command processor takes the argument as one word: it has its own quoting, which programs' rules for
// arguments do not know.
func isSafeForScript(arg string) bool { return !strings.ContainsAny(arg, "\"%!^&|<>()\r\n\x00") }
