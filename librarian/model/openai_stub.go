package model

func openaiFailure(err error) *failure { return nil }
