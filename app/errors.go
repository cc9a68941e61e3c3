package app

// UsageError is a mistake of whoever started the program: one line that says what is wrong and how to mend it. Main prints
// it and exits with 2.
type UsageError struct {
	Message string
	Hint    string
	Err     error // for errors.Is; not printed
}

func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap gives the cause.
func (e *UsageError) Unwrap() error { return e.Err }
