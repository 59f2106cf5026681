"""Extensions: their files, manifests, languages and permissions; runtime/ runs their scripts."""
