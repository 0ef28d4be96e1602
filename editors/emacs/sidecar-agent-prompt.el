;;; sidecar-agent-prompt.el --- What people write to agents  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The window below a conversation.  What is sent along is named in the text:
;; @file, @file:3-9, @diagnostics:file, @<a name with spaces>.

;;; Code:

(require 'flymake)
(require 'sidecar-agent-view)
(declare-function sidecar-agent--current "sidecar-agent")
(declare-function sidecar-agent--file "sidecar-agent")
(declare-function sidecar-agent--choose "sidecar-agent")

(defvar sidecar-agent-prompt-mode-map (make-sparse-keymap))

(define-derived-mode sidecar-agent-prompt-mode text-mode "Prompt"
  "What you write to an agent.
\\{sidecar-agent-prompt-mode-map}"
  (add-hook 'completion-at-point-functions #'sidecar-agent--complete nil t)
  (setq header-line-format (substitute-command-keys "\\<sidecar-agent-prompt-mode-map>\\[sidecar-agent-send] send  \\[sidecar-agent-steer] steer  \\[sidecar-agent-interrupt] interrupt  \\[sidecar-agent-stop] stop")))
(pcase-dolist (`(,key . ,command)
               '(("C-c C-c" . sidecar-agent-send) ("C-c C-s" . sidecar-agent-steer) ("C-c C-x" . sidecar-agent-interrupt) ("C-c C-k" . sidecar-agent-stop)))
  (define-key sidecar-agent-prompt-mode-map (kbd key) command))

(defun sidecar-agent-prompt (&optional view)
  "Go to the prompt of the conversation, or of VIEW."
  (interactive)
  (let ((view (or view (sidecar-agent--current))))
    (unless (buffer-live-p (sidecar-agent-v-prompt view))
      (setf (sidecar-agent-v-prompt view) (generate-new-buffer (format "*SideCar prompt %s*" (sidecar-agent-v-run view))))
      (with-current-buffer (sidecar-agent-v-prompt view)
        (sidecar-agent-prompt-mode)
        (setq sidecar-agent--view view default-directory (file-name-as-directory (sidecar-agent-v-root view)))))
    (pop-to-buffer (sidecar-agent-v-prompt view) '((display-buffer-reuse-window display-buffer-below-selected) (window-height . 6)))
    (goto-char (point-max))))

(defun sidecar-agent--diagnostics (path)
  "What Flymake shows against the file PATH, as text."
  (let ((buffer (find-buffer-visiting path)))
    (or (sidecar-agent--some
         (mapconcat (lambda (d)
                      (with-current-buffer buffer
                        (format "%s:%d: %s" (file-name-nondirectory path) (line-number-at-pos (flymake-diagnostic-beg d) t) (flymake-diagnostic-text d))))
                    (and buffer (with-current-buffer buffer
                                  (seq-remove (lambda (d) (string-prefix-p "sidecar" (or (flymake-diagnostic-text d) ""))) (flymake-diagnostics))))
                    "\n"))
        "There are none.")))

(defun sidecar-agent--lines-of (path first last)
  "The lines FIRST to LAST of PATH, as its buffer has them."
  (let ((visited (find-buffer-visiting path)))
    (with-temp-buffer
      (if visited (insert (with-current-buffer visited (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max))))) (insert-file-contents path))
      (goto-char (point-min))
      (forward-line (1- first))
      (string-remove-suffix "\n" (buffer-substring (point) (progn (forward-line (1+ (- last first))) (point)))))))

(defun sidecar-agent--attachment (view about name first last)
  "What ABOUT \"diagnostics:\" or \"\" and NAME stand for, with the lines FIRST to LAST, or nil."
  (when-let ((path (sidecar-agent--file view name)))
    (let ((uri (eglot--path-to-uri path)))
      (cond ((equal about "diagnostics:") (list :kind "diagnostics" :uri uri :text (sidecar-agent--diagnostics path)))
            (first (list :kind "range" :uri uri :text (sidecar-agent--lines-of path first last)
                         :range (list :start (list :line (1- first) :character 0) :end (list :line last :character 0))))
            (t (list :kind "file" :uri uri))))))

(defun sidecar-agent--attachments (view prompt)
  "What PROMPT names: files of the project of VIEW, lines of them, and diagnostics."
  (let ((at 0) all)
    (while (string-match "@\\(diagnostics:\\)?\\(?:<\\([^>\n]+\\)>\\|\\([^][:space:]<:()]+\\)\\)\\(?::\\([0-9]+\\)\\(?:-\\([0-9]+\\)\\)?\\)?" prompt at)
      (setq at (match-end 0))
      (let* ((number (lambda (n) (and (match-string n prompt) (string-to-number (match-string n prompt)))))
             (about (match-string 1 prompt)) (name (or (match-string 2 prompt) (match-string 3 prompt)))
             (first (funcall number 4)) (last (or (funcall number 5) first))
             (attachment (save-match-data
                           (or (sidecar-agent--attachment view about name first last)
                               (sidecar-agent--attachment view about (replace-regexp-in-string "[.,;!?]+\\'" "" name) first last)))))
        (when attachment (cl-pushnew attachment all :test #'equal))))
    (vconcat (nreverse all))))

(defun sidecar-agent--send (when)
  "Send what is written, to be heard WHEN.  It stays until the server has it."
  (let* ((view (sidecar-agent--current)) (prompt (or (sidecar-agent-v-prompt view) (user-error "Write something first")))
         (text (with-current-buffer prompt (buffer-substring-no-properties (point-min) (point-max)))) (editing (sidecar-agent-v-editing view)))
    (when (string-blank-p text) (user-error "Write something first"))
    (sidecar-agent--ask
     view (if editing "sidecar.agent.edit" "sidecar.agent.prompt")
     (if editing (list :run (sidecar-agent-v-run view) :item editing :text text)
       (list :run (sidecar-agent-v-run view) :text text :attachments (sidecar-agent--attachments view text) :when when))
     (lambda (_)
       (when (buffer-live-p prompt)
         (with-current-buffer prompt
           (when (equal (buffer-string) text)
             (setf (sidecar-agent-v-editing view) nil)
             (erase-buffer))))))))

(defun sidecar-agent-send () "Send what is written; the agent hears it next." (interactive) (sidecar-agent--send "queue"))
(defun sidecar-agent-steer () "Send what is written; the agent hears it at once, if it can." (interactive) (sidecar-agent--send "steer"))
(defun sidecar-agent-interrupt () "Stop what the agent does, and have it hear what is written." (interactive) (sidecar-agent--send "interrupt"))

(defun sidecar-agent--name (view)
  "The name of this buffer's file, as it is written in a prompt of VIEW."
  (let ((name (file-relative-name (file-truename (or buffer-file-name (user-error "This buffer has no file"))) (sidecar-agent-v-root view))))
    (if (string-match-p "[^[:alnum:]._/-]" name) (format "<%s>" name) name)))

(defun sidecar-agent--write (view words)
  "Write WORDS into the prompt of VIEW."
  (sidecar-agent-prompt view)
  (unless (or (bobp) (memq (char-before) '(?\s ?\n))) (insert " "))
  (insert words " "))

(defun sidecar-skill ()
  "Choose a skill, and begin the prompt with it.
Our own agent takes its name, others get it by our tool."
  (interactive)
  (let* ((view (sidecar-agent--current)) (model (sidecar-agent-v-model view)) (sidecar-buffer-server (sidecar-agent-v-server view))
         (skills (append (plist-get (sidecar-execute "sidecar.skills.list" (list :session (sidecar-agent-m-session model))) :skills) nil))
         (skill (sidecar-agent--choose
                 "Skill: " (or skills (user-error "There are no skills"))
                 (lambda (s) (concat (sidecar-agent--line (plist-get s :name) 64) " · " (sidecar-agent--line (plist-get s :origin) 40) " · "
                                     (sidecar-agent--line (or (sidecar-agent--some (plist-get s :missing)) (plist-get s :description)) 120)))))
         (name (or (plist-get skill :name) (user-error "No skill was chosen"))))
    (when-let ((missing (sidecar-agent--some (plist-get skill :missing)))) (user-error "The skill %s can't be used: %s" name (sidecar-agent--line missing 200)))
    (sidecar-agent-prompt view)
    (save-excursion
      (goto-char (point-min))
      (insert (if (equal (sidecar-agent-m-agent model) "builtin") (format "/%s " name) (format "Use the skill %s (the tool skill has it): " name))))
    (goto-char (point-max))))

(defun sidecar-agent-attach ()
  "Name the region, or this file, in the prompt."
  (interactive)
  (let ((view (sidecar-agent--current)))
    (sidecar-agent--write view (concat "@" (sidecar-agent--name view)
                                     (if (use-region-p)
                                         (format ":%d-%d" (line-number-at-pos (region-beginning) t)
                                                 (line-number-at-pos (max (region-beginning) (1- (region-end))) t))
                                       "")))))

(defun sidecar-agent-attach-diagnostics ()
  "Name this file's diagnostics in the prompt."
  (interactive)
  (let ((view (sidecar-agent--current)))
    (sidecar-agent--write view (concat "@diagnostics:" (sidecar-agent--name view)))))

(defun sidecar-agent--complete ()
  "Complete the path behind an @."
  (save-excursion
    (let ((end (point)) (start (progn (skip-chars-backward "^@ \t\n") (point))) (root (file-name-as-directory (sidecar-agent-v-root sidecar-agent--view))))
      (when (eq (char-before start) ?@)
        (list start end
              (lambda (string predicate action)
                (if (eq (car-safe action) 'boundaries) (cons 'boundaries (cons (length (or (file-name-directory string) "")) 0))
                  (unless (eq action 'metadata)
                    (let ((default-directory root)) (completion-file-name-table string predicate action)))))
              :exclusive 'no)))))

(provide 'sidecar-agent-prompt)
;;; sidecar-agent-prompt.el ends here
