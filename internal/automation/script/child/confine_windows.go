package child

// confine does nothing: the parent has put the process into a job object with its limits
// before it sent the job.
func confine(int) error { return nil }
