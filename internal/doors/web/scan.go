package web

// scanPage lists every aai.json of this computer, with its errors. Its data are those of the tool "scan".
func scanPage() page {
	return page{name: "scan", path: "/scan", live: []string{EventApps}, show: showScan}
}

// scannedFile is a file in the answer of the tool "scan".
type scannedFile struct {
	Path, App, Status string
	Tools             int
	Unprobed          bool         `json:"not_started"`
	ShadowedBy        string       `json:"shadowed_by"`
	Errors, Warnings  []fileRemark // at the places of the file
	Omitted           int          `json:"errors_omitted"`
}

// fileRemark is an error or a warning of a file.
type fileRemark struct{ Path, Problem string }

func showScan(v *pageRequest) (any, error) {
	var shown struct {
		Files  []scannedFile
		Faulty int // files with errors
		More   int // files that are not shown
	}
	if err := v.read("scan", nil, &shown); err != nil {
		return nil, err
	}
	for _, file := range shown.Files {
		if len(file.Errors) > 0 || file.Status == "invalid" {
			shown.Faulty++
		}
	}
	if shown.More = max(0, len(shown.Files)-toolsLimit); shown.More > 0 {
		shown.Files = shown.Files[:toolsLimit]
	}
	return shown, nil
}
