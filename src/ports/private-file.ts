/** Port: a small file of ours that nobody else reads. @module */

/** One file in the data directory. */
export interface PrivateFile {
  /**
   * The text of the file; `undefined` when there is no file.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE` when it cannot be read, or is not ours.
   * @throws {TypeError} when it is not UTF-8.
   */
  read(): Promise<string | undefined>

  /**
   * Replaces it, durably and as a whole; when it rejects, the earlier text is intact.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`, also when there is no space.
   */
  write(text: string): Promise<void>

  /** Removes it durably, if it is there. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
  remove(): Promise<void>
}
